"""The lowest layer: values and declarations. No I/O, no await, no import from higher layers."""
