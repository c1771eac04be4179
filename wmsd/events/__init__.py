"""Events: written with the change that they tell of, and sent to those who have subscribed."""
