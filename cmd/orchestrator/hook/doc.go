// Package hook passes what an agent's hook reports on to the gateway, before the rest of the program has begun.
//
// Agents run `orchestrator hook <event>` several times a turn and wait for it, so that its whole process must cost
// little more than an empty program that dials. Hence two unusual things. The answer is given while packages are
// initialised: Go does that in the order of imports and, among packages that are ready, of their paths, and this one
// needs so little that it is ready before nearly every other. And it speaks to the socket itself, because net/http and
// net would have to be initialised first.
//
// What the shortcut does not know (flags, help, a wrong number of arguments, an address that is missing) is left to
// the verb `hook`, which calls [Report] too.
package hook
