// Package activity derives what an agent is doing from the evidence, and what people see of it.
//
// It guarantees that the same evidence always gives the same state, and that no state in which the agent waits is shown
// before its last answer is durable. It stores nothing and starts nothing; its caller guards Requests with a lock.
package activity
