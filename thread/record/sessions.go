package record

// Sessions are work sessions and their tasks.
type Sessions struct{ c Config }
