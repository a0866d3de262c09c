"""Exercises to be worked out by hand: a sheet is drawn by its kind and number, and checked step by step."""
