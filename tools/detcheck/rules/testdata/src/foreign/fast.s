// The body of fast would stand here.
