// Package manager contains the use cases of the domain: the Manager starts, asks, forks, merges, rewinds, resumes and
// stops threads, and records what their agents answer.
//
// It imports the standard library, package thread and the packages below it. Only cmd imports it.
//
// Its own packages do not know the Manager:
//
//	recording  makes an answer durable: checkpoints, the spool, transcripts, the end of a turn
//	outbox     the states of a prompt, and when one is typed
//	activity   the state that a thread is shown in
//	events     publishes events to subscribers
//	past       reads what is stored: points, turns, files
//	offers     notices when a fork would help
//	resume     finds how an agent gets a conversation back, and rebuilds sessions
//	handoff    writes primers and the notes of merges
//	runs       what is kept of an agent without a terminal, how it ended, how many run at once
//
// The files of this folder:
//
//	manager, config, registry, index        the Manager, and how it finds threads
//	work, environs, intents, notices, starts  what its parts share
//	live, states, queue, status             a thread's current state and its steps
//	typist, typing, prompts, reconcile      prompts
//	recorded, turnprompts                   a thread as its recorder sees it
//	traffic, busy, visibility               reports of the gateway and the agent
//	run, runs, start, resume, ended         an agent's process
//	submit, once, openruns, dispatch, executions  executions of agents without a terminal, and their queue
//	deploy, attempt, given, runend, runloss, runsrecovery  one execution's process, its end, what follows on its loss
//	new, fork, setup, place, moved, primer  new threads and their folders, handoffs to another agent
//	rewind                                  rewinds
//	merge, merges, mergenote, mergepreview, finish, push
//	lifecycle, removal                      names, grants, archive, deletion
//	history, suggestions, watched           timelines and diffs, fork offers, changed configuration of agents
//	recovery                                repairs at start
//
// Guarantees: no agent process starts before its row is stored, and none without a terminal before the execution and the
// prompt that it is for are; what a crash leaves of those is in submit.go; a thread is not shown as waiting or idle before
// the checkpoint of its last response is durable; a fork, rewind or merge never touches the thread it came from without
// a safety checkpoint.
package manager
