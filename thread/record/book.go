// Package record is the use cases of the record of work: what people, agents and the program itself write down of who was
// given what, did what, and what came of it, and what can be asked of that. It works with everything else switched off.
//
// What an agent records is marked as recorded by it and bounded; an agent never completes, changes or removes what
// another recorded. What somebody says is a claim and stays marked as one, beside what we saw.
package record

import "time"

// Book is the record of a project. Its parts share the store and nothing else.
type Book struct {
	Sessions   *Sessions
	Executions *Executions
	Bundles    *Bundles
	Outputs    *Outputs
	Answers    *Answers
	Overview   *Overview
}

// New returns the record over a store.
func New(c Config) *Book {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Book{
		Sessions: &Sessions{c}, Executions: &Executions{c}, Bundles: &Bundles{c}, Outputs: &Outputs{c}, Answers: &Answers{c},
		Overview: &Overview{c},
	}
}
