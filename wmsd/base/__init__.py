"""The ground floor: values and declarations. No I/O, no await, no import from above."""
