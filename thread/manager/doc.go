// Package manager has the use cases of the domain: the Manager starts, asks, forks, merges,
// rewinds, resumes and stops threads, and records what their agents answer.
//
// It imports the standard library, package thread and the packages below it. Only cmd imports it.
//
// Rooms of its own, which know nothing of the Manager, have
//
//	recording  an answer becomes durable: checkpoints, the spool, transcripts, the end of a turn
//	outbox     what becomes of a prompt, and when one is typed
//	activity   what state a thread is shown in
//	events     who hears what happens
//	past       reading what is stored: points, turns, files
//	resume     how an agent gets a conversation back: the proof, and sessions written anew
//	handoff    what an agent is told of a conversation: the primer, the note of a merge
//
// and what stands in this folder by file is
//
//	manager, config, core, registry       what all use cases stand on
//	line, queue, status                   one thread as it is now, and its steps
//	desk, typing, prompts, reconcile      what an agent is asked
//	recorded, turnprompts                 a thread as its recorder sees it
//	traffic, busy, sight                  what the gateway and the agent tell
//	run, runs, start, resume, ended       an agent's process
//	primer                                a handoff to another agent
//	new, fork, furnish, place, moved      threads and their folders
//	rewind, merge and merges, finish, push
//	lifecycle, removal                    names, grants, archive, deletion
//	history, suggestions, watched         reading, fork offers, what agents obey
//	recovery                              what a start does about the run before
//
// Guarantees: no agent process starts before its execution is stored; a thread is not shown
// waiting or idle before the checkpoint of its last response is durable; a fork, rewind or
// merge never touches the thread it came from without a safety checkpoint.
package manager
