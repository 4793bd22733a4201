// Package runs has what the manager decides about agents that run without a terminal and needs nothing else for: what is
// kept of what they report, how such a run ended, and how many may run at once.
//
// Guarantees: what is kept has no secrets and a bounded length, however much an agent prints; a run has completed only if
// its program said so.
package runs
