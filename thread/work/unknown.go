package work

import (
	"orchestrator/thread"
	"orchestrator/thread/ground/near"
)

// Unknown returns the error for a name that no execution has, with those of all that are near it.
func Unknown(ref string, all []string) error {
	return thread.Hint(thread.Kindf(thread.ErrNotFound, "no execution named %q", thread.Excerpt(ref)),
		thread.Meant(near.Names(ref, all), "`orchestrator exec list --all` lists them"))
}

// UnknownSession is Unknown for work sessions.
func UnknownSession(ref string, all []string) error {
	return thread.Hint(thread.Kindf(thread.ErrNotFound, "no work session named %q", thread.Excerpt(ref)),
		thread.Meant(near.Names(ref, all), "`orchestrator session list` lists them"))
}
