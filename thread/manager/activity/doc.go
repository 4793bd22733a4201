// Package activity says what an agent is known to do, and what people may see of it.
//
// It guarantees that the same evidence always says the same, and that no state in which the agent waits is shown before
// its last answer is durable. It stores nothing and starts nothing; its caller guards Requests by a lock.
package activity
