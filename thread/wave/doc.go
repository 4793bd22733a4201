// Package wave is the use cases of plans at work: it starts the agents of a task in waves, each the moment its upstreams have
// handed over, and carries what they hand over from one to the next.
//
// The rows of plan.Store are the only truth: the engine is made of them again at each start of the server, woken by commits,
// by ends of executions and by places that become free, and swept every 30 s, which must find nothing to do and says so when
// it does. Without its row no process is started; a write with an old fence changes nothing; nothing that an agent says
// starts, stops or removes anything but what its plan allows.
package wave
