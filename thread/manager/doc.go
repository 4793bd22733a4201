// Package manager has the use cases of the domain: the Manager starts, asks, forks, merges, rewinds, resumes and stops
// threads, and records what their agents answer.
//
// It imports the standard library, package thread and the packages below it. Only cmd imports it.
//
// Guarantees: no agent process starts before its execution is stored; a thread is not shown as waiting or idle before
// the checkpoint of its last response is durable; a fork, rewind or merge never touches the thread it came from without
// a safety checkpoint.
package manager
