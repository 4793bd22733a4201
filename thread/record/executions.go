package record

// Executions are executions that are written down by hand, and queries over all.
type Executions struct{ c Config }
