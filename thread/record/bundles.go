package record

// Bundles are the contexts that agents are given.
type Bundles struct{ c Config }
