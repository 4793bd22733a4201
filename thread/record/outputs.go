package record

// Outputs are what came of executions.
type Outputs struct{ c Config }
