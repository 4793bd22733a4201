// Package typing keeps the prompts that we type apart from what a person types into the same program.
//
// Keys follows a person's keystrokes and says whether the input may contain unsent text. Compare compares the content
// of an input with a text that was pasted into it. Both are pure: they know no terminal, no agent and no clock. When in
// doubt they err on the safe side: an input that may contain a person's text counts as containing it.
package typing
