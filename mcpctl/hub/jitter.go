package hub

import "math/rand/v2"

// jitter keeps servers that ended together from being started together.
func jitter() float64 { return 2*rand.Float64() - 1 }
