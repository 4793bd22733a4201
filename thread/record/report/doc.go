// Package report writes the report of a work session from a template in Go's template language: a built-in one, or one of
// the person's own.
//
// Guarantees: the same record and the same template give the same bytes. What people and agents wrote is printed without
// what a terminal would obey and, where a template does not ask for it raw, so that no Markdown in it changes the report's
// structure. A template reads no file and starts nothing; what it writes is bounded.
package report
