// Package turns says which prompt belongs to which turn.
//
// What an agent sends to its model is not what it was asked: text is trimmed and its white space changed, a file that
// is named is put in its place, words of hooks stand before or after, and several prompts that waited go as one. Claim
// finds the prompts in such a text. It would rather find none than a wrong one: nobody may be given the answer to
// another's prompt.
//
// Rest judges a prompt that an agent took and is at rest with.
//
// It is rules over texts, pure, with no thread, store or clock behind it.
package turns
