"""Wrong answers on scaled dot-product attention, each as somebody would really write it."""
