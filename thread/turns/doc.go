// Package turns decides which prompt belongs to which turn.
//
// What an agent sends to its model is not exactly its prompt: text is trimmed and its white space changed, a file is
// inserted in place of its name, hooks add text before or after, and several queued prompts are sent as one. Claim
// finds the prompts in such a text. It would rather find none than a wrong one: nobody may get the answer to another's
// prompt.
//
// Judge decides about a prompt that an agent took without answering before it became idle.
//
// It consists of rules over texts, pure, without a thread, store or clock.
package turns
