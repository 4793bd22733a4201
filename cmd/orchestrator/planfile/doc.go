// Package planfile reads plans as people and planners write them, in TOML or JSON, with the prompts and schemas that they
// name, and finds them by name.
//
// It guarantees: a key that is not one of a plan's is refused, with the one that may be meant; what a plan names is read from
// the plan's folder and nowhere else, never through a link; what is read is bounded; a plan of a repository comes with all
// bytes that it consists of, so that a person accepts exactly what then runs.
package planfile
