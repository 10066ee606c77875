"""Wrong answers on the worked example, each as somebody would really write it."""
