// Package plan says how several agents work on one task: which of them there are, who reads what of whom, what each hands
// over, and what follows when one fails. Its types are the plan as people write it, the task that a plan is at work on with a
// node for each agent, and what agents hand over; Store is the contract of what keeps them.
//
// It guarantees: what it decides follows from a plan and the stored rows alone, so that it is the same after any crash; an
// agent reads what the agents it names in the plan hand over, and nothing else; what one agent hands over is data to the
// next one, never an instruction.
package plan
