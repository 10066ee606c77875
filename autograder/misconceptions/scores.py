"""Wrong answers on scores, each as somebody would really write it."""
