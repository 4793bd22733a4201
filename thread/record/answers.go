package record

// Answers answers questions about all that is recorded.
type Answers struct{ c Config }
