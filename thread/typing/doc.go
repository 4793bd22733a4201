// Package typing keeps the prompts that we type apart from what a person types into the same program.
//
// Keys follows a person's keystrokes and says whether the input may hold something that was not sent. Compare
// compares what an input shows with a text that was pasted into it. Both are pure: they know no terminal, no
// agent and no clock. Where they cannot know, they say so on the safe side: an input that may hold something
// of the person's counts as holding it.
package typing
