// Package witness gives runs that must only read a folder of their own to work in, and watches that nothing in it
// changes.
//
// Runs of the same files (a commit with the uncommitted changes of a folder) share one worktree with the snapshot of
// them. The first that joins has it made, the last that leaves has it removed. Its folder has the lowest name that is
// free, "readonly-1", so that it is usually the same from run to run.
//
// The folder is compared with what it was whenever a run joins or leaves: every file, link and folder in it, also
// untracked and ignored ones, by content, type and permissions. Times do not count. What differs concerns each run that
// was in it since the comparison before. A run never joins a folder that was changed.
//
// What is compared are the places at two times: a change that is undone in between is not seen, and neither is anything
// outside of the folder.
//
// A file is read only if its number, size or times have changed, or if it was written so shortly before it was looked at
// that a change could not be told by them.
package witness
