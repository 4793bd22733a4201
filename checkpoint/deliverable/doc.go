// Package deliverable tells from git what an execution has made of files: which lines it added, changed and deleted since
// a commit, or since a snapshot of the worktree at its start, so that what was uncommitted before is not counted.
//
// Guarantees: nothing of the person's repository, index or files is changed; git reads the worktree through our own git
// folder, so nothing that the repository's configuration names is started. No link is followed, and no file outside of
// the repository is read, whoever named it: what is there is returned without figures. Of a file that is no text, or too
// large for a snapshot, only its size is told.
//
// What several executions did in one folder at the same time cannot be told apart: each has all of it.
package deliverable
