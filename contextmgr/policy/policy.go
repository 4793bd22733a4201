// Package policy decides which tool results of a conversation are masked, when, and whether that pays.
//
// It guarantees:
//
//   - A decision depends on its arguments alone: there is no clock, no I/O, no chance and no memory here.
//   - What is masked stays masked. A decision only adds, so that the bytes of a request change rarely and all at once.
//   - Results are masked in batches that are worth the cache write that they cause: what is rewritten behind the first
//     masked result, now, against what is not read again in the requests to come. When the prompt cache is certainly
//     lost anyway, masking is free.
//   - What is protected is not masked: the newest results, the newest requests of the running turn, errors, plans,
//     lists of things to do, skills, answers of subagents, of the person and of servers, images, retrieved content,
//     small results and, in mode safe, files that are being worked on. Only when the window is almost full do the
//     newest ones, the turn and those files lose their protection, but for the newest result of all.
//   - A person's rules by tool only add to that: with a rule, nothing may be masked that without it may not.
//
// It does not know contents or wire formats. Its caller measures a conversation, keeps what was decided and replaces
// the text. Files, turns and requests are what the caller says they are.
package policy

// Mode describes how much is masked.
type Mode string

// The modes.
const (
	// ModeSafe masks old results, but not the files that are being worked on.
	ModeSafe Mode = "safe"
	// ModeLean masks old results of those files too.
	ModeLean Mode = "lean"
	// ModeObserve decides as safe does and masks nothing.
	ModeObserve Mode = "observe"
	// ModeOff decides nothing.
	ModeOff Mode = "off"
)

// Settings are the person's. Defaults returns what holds without any.
type Settings struct {
	Mode Mode

	// TriggerShare and TriggerTokens are the context from which on masking may cost a cache write: a share of the window
	// in percent, and a number of tokens. The lower one counts.
	TriggerShare  float64
	TriggerTokens int64

	// KeptTokens of the newest results are never masked, nor are the newest KeptResults.
	KeptTokens  int64
	KeptResults int
	// TurnRequests are the newest requests of the running turn whose results are never masked. A turn may have hundreds of
	// requests: if all of them were kept, the longest conversations would stay as they are.
	TurnRequests int
	// A file counts as worked on, in mode safe, for at most FileRequests requests after it was read or written, and not
	// longer than keeping its last read costs FileShare of what reading it again would cost (see worth); for one that the
	// conversation has changed, FileChanged times as long. RereadTokens is what the call for reading it again costs besides
	// the request, in tokens that are read from the cache. FileTokens is how much of such files is kept, those first that
	// were touched last.
	FileRequests           int
	FileShare, FileChanged float64
	RereadTokens           int64
	FileTokens             int64

	// MinBatch and MinBatchCold are the tokens that a batch frees at least; the latter holds when the cache is lost.
	MinBatch, MinBatchCold int64
	// MinResult is the size in tokens below which a result is never masked.
	MinResult int64
	// StubTokens is the size of the text that takes a result's place.
	StubTokens int64

	// Remaining is how many requests a conversation has left that has just begun, and HalfLife after how many requests
	// half of them are expected.
	Remaining, HalfLife float64

	// RereadShare is the share of masked results in percent that may be read again soon before more is protected.
	RereadShare float64

	// Rules protect more, by tool. Of several for a tool all hold.
	Rules []Rule
}

// Defaults returns the settings of a mode. They were chosen by replaying recorded sessions (package replay).
func Defaults(m Mode) Settings {
	return Settings{
		Mode:         m,
		TriggerShare: 30, TriggerTokens: 60_000,
		KeptTokens: 3_000, KeptResults: 3, TurnRequests: 5,
		FileRequests: 40, FileShare: 0.4, FileChanged: 3, RereadTokens: 10_000, FileTokens: 50_000,
		MinBatch: 6_000, MinBatchCold: 2_000, MinResult: 120, StubTokens: 50,
		Remaining: 50, HalfLife: 1_000,
		RereadShare: 5,
	}
}

// trigger returns the context from which on masking may cost a cache write.
func (s Settings) trigger(window int64) int64 {
	if window <= 0 {
		return s.TriggerTokens
	}
	return min(s.TriggerTokens, int64(float64(window)*s.TriggerShare/100))
}
