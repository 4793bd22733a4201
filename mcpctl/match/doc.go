// Package match says which MCP servers a task needs, from its words.
//
// [Patterns] are rules that a person wrote: they are the only thing that may switch a server on by itself, and they say
// why they did. An [Index] ranks servers by what they say of themselves, and with a [Memory] by what similar tasks of
// this project called; it only suggests. Both are deterministic, read a bounded part of a text and take linear time.
package match
