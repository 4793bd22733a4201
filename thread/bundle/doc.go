// Package bundle makes bundles: the context that an agent is given before it begins, counted and freed of doubles before
// anything is spent.
//
// It is pure: who calls it brings the content of files. The same input gives the same bytes: a bundle's printed form, its
// hash, and the text that an agent gets of it. What is too large, missing, not text or ambiguous is an error that says
// which and why; nothing is cut without being said.
package bundle
