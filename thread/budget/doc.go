// Package budget decides whether a model request may be sent, by what is left of the budgets that pay for it.
//
// A request is paid for by several scopes at once: its execution, the group of that, its thread, the project, and those
// of whoever asked for the execution. Each may have a limit in tokens (all kinds of input, and output), in USD, or both.
// Before a request is sent, Books holds back what it will likely use: the input that was counted, and what its model
// usually answers, never the most that it may. To check and to hold back is one step, so of several requests at once only
// those pass that fit together. One that would fit if what the others hold came back waits until they have ended; one
// that does not fit at all is refused. That is about this request alone as long as what the scope's requests usually take
// still fits; a scope is used up once that does not fit either, so that nobody stops others by asking for too much.
//
// # What may be overspent
//
// For each limit, what is spent and what is held back together never exceed it when a request is let pass. So once all
// requests have ended, what is spent exceeds the limit by at most
//
//	Σ max(0, actual − reserved)
//
// over the requests that were in flight when it was reached: by what their answers were longer than usual, and by what of
// their input was expected in the provider's cache and was not. A limit that is lowered below what is spent adds nothing
// to this: no further request passes.
//
// # What is not known
//
// An answer without a known price costs an unknown amount and never 0: it is counted as unknown and adds its tokens. A
// limit in USD of an execution or a group, which somebody has set for this work, refuses what has no price, since it could
// not be kept; that of a thread or of the project lets it pass and says so once. An answer without usable usage (none,
// negative, more than any model has) is counted as unknown too, and uses up what was held back for it: what is spent never
// shrinks, and its sum does not overflow. So is a request of a format that nobody reads, where there is a limit at all.
//
// # What is kept
//
// Books keeps nothing itself. What was spent before it was opened is read once, before its first request is sent, from
// where it is stored, and what has to be summed up for that before a limit first holds for it; what models usually answer is learned again.
//
// What cannot be read is never taken for nothing: a request waits for a while if a limit depends on it, and is not sent then.
package budget
