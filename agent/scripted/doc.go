// Package scripted plays the provider of a model: it reads a model request of any wire format (Anthropic's Messages,
// OpenAI's Responses and Chat Completions, Gemini) into a Turn, and writes a Reply in the same format, streamed or
// whole. A script decides the reply: the demo agent's model plans from the prompt, the tests' model server follows the
// markers in it.
//
// A Reply may also fail as real ones do: with a status, in the middle of an answer, or with a web page instead of one.
// The package does not listen and checks no credentials; those who use it serve HTTP.
package scripted
