package suggest

import (
	"regexp"
	"strings"
)

// Parts of the phrases below.
const (
	wish    = `(?:let'?s|lets|let us|we (?:could|should|can)|i(?:'d| would) (?:like|rather|want)(?: to)?|i want(?: you)? to|(?:can|could|would) (?:we|you)|please|maybe(?: we (?:should|could))?|how about (?:we|you)|why don'?t we)`
	soon    = `(?: (?:now|instead|also|just|please|rather|go back and|go ahead and|take a step back and))*`
	attempt = `(?:try(?:ing)?(?: out)?|take|explore|use|attempt|go(?: for| with)?|consider|pursue)`
	wholly  = `(?:(?:completely|totally|entirely|very|whole|radically|fundamentally) )*`
	other   = `(?:another|different|new|alternative|alternate|other|fresh)`
	course  = `(?:approach|way|strategy|route|direction|design|solution|idea|path|tack|angle|option|alternative|implementation)`
	anew    = `(?:start(?:ing)? (?:over|fresh|anew)(?: from scratch)?|start from scratch|begin again|(?:go )?back to (?:the drawing board|square one))(?:\s*[.,;:!?-]|\s*$| (?:with|using|and|but|in|from|here|as)\b)`
	given   = `(?:(?:scrap|ditch|abandon|give up on|throw away) (?:this|that|it|everything|all of (?:this|that))|throw (?:this|that|it|everything) away|` +
		`(?:scrap|ditch|abandon|drop|forget(?: about)?|discard|throw away|give up on) (?:(?:this|that|the|the current|the whole) (?:approach|design|attempt|idea|plan|solution|strategy|route|direction|rewrite)))(?:\s*[.,;:!?-]|\s*$| (?:and|altogether|entirely|for now)\b)`
)

// another finds the wish to try another way. Each phrase names the change of the whole approach:
// "another test" or "a different name" are not among them.
var another = regexp.MustCompile(`(?i)(?:` + strings.Join([]string{
	`\b` + wish + soon + ` ` + attempt + ` (?:(?:this|that|it|things) )?(?:in )?(?:a |an |some )?` + wholly + other + ` ` + course + `\b`,
	`\b` + wish + soon + ` ` + attempt + ` (?:an )?alternatives? (?:where|in which|with|using|that)\b`,
	`\b` + wish + soon + ` ` + attempt + ` (?:something else|something ` + wholly + `different|(?:it|this|that) the other way (?:a?round)|plan b)\b`,
	`^(?:try|take|explore|attempt) (?:(?:this|that|it) )?(?:a |an )?` + wholly + other + ` ` + course + `\b`,
	`^(?:(?:ok(?:ay)?|hm+|so|well)[, ]+)?(?:what|how) about (?:a |an )` + wholly + other + ` ` + course + `\b`,
	`^(?:(?:ok(?:ay)?|hm+|so|well)[, ]+)?` + other + ` (?:approach|strategy|idea|plan|design)\s*[:,-]`,
	`\b` + wish + soon + ` ` + anew,
	`^` + anew,
	`[.!?] +` + anew,
	`(?:^|\b` + wish + soon + ` )` + given,
	`(?:^|\b` + wish + ` )do (?:an|another) (?:experiment|attempt)\b`,
	`\b(?:this|that|the current) approach (?:is|was|does|doesn'?t|isn'?t|won'?t|will not|is not) (?:not )?(?:work|working|going|lead|a dead end|dead|wrong|the right)`,
	`\bwhat if we (?:instead|did it differently|took (?:a |an)(?:other|different))`,
	`\bas an (?:alternative|experiment),? (?:try|implement|build|do|rewrite|write|use)`,
	`\b(?:in|as) a (?:separate|parallel) (?:experiment|attempt|branch of thought)`,
	`\b(?:probieren|versuchen) wir (?:mal )?(?:einen|eine) (?:ganz )?ander(?:en|e|es) (?:ansatz|weg|lösung|idee)`,
	`\b(?:lass uns|lasst uns) (?:mal )?(?:einen|eine) (?:ganz )?ander(?:en|e) (?:ansatz|weg|lösung|idee)`,
}, `|`) + `)`)

// refers is a wish that speaks of another approach without wanting one now.
var refers = regexp.MustCompile(`(?i)\b(?:do(?: no|n'?)t|never|no need to|before (?:we|you)|instead of|without|rather than|why did(?:n'?t)? (?:you|we)|did (?:you|we)|should(?:n'?t)? have|explain|describe|document|list|compare|summari[sz]e|which|later)\b[^.!?,\n]{0,40}$`)

// wantsAnother returns the phrase by which a prompt asks for another approach.
func wantsAnother(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	at := another.FindStringIndex(prompt)
	if at == nil || refers.MatchString(prompt[:at[0]]) {
		return weighs(prompt)
	}
	return strings.TrimRight(prompt[at[0]:at[1]], " :,-")
}

// afterPhrase returns what a prompt says besides a phrase.
func afterPhrase(prompt, phrase string) string {
	before, after, _ := strings.Cut(prompt, phrase)
	if strings.TrimSpace(after) != "" {
		return after
	}
	return before
}

// fails finds the complaint that it still does not work.
var fails = regexp.MustCompile(`(?i)\b(?:still (?:fail|broken|not work|doesn'?t work|does not work|the same|getting|crash|wrong|red|see)|same (?:error|problem|failure|issue|crash)|(?:fails?|failed|breaks|broke|crash(?:es|ed)) again|again the same|no (?:change|difference|luck|better)|(?:doesn'?t|does not|didn'?t|did not|isn'?t|not) (?:work|help|fix|working)|immer noch)`)

// complains reports whether a prompt says that the last attempt failed like the one before.
func complains(prompt string) bool { return fails.MatchString(prompt) }

// marker is how people say that they change the subject.
var marker = regexp.MustCompile(`(?i)^\s*(?:ok(?:ay)?[,.!]?\s+|so[,.]?\s+|now[,.]?\s+|great[,.!]?\s+|thanks[,.!]?\s+|and\s+)*(?:(?:on |and )?(?:a |an )?(?:completely |totally |entirely )?(?:unrelated|different topic|new topic|new subject|other topic|different subject|separate topic|different question|unrelated question|separate question|side question|off[- ]topic)\b|(?:for|to|with) something (?:completely |totally |entirely )?(?:different|else)\s*[:,-]|on (?:a different|another|a side|an unrelated) (?:note|topic|subject)\b|by the way\b|btw\b|switching (?:gears|topics?|subjects?)\b|changing (?:the )?(?:topic|subject)\b|something (?:completely |totally |entirely )?(?:different|else)\s*[:,-]|ganz was anderes\b|anderes thema\b|` +
	`(?:a |an |the |my |your |our )?(?:new|next|other|different|separate|unrelated|another) (?:task|ticket|topic|thing|subject|story|issue|problem|project|question|job|item|assignment|request)\b[^.!?]{0,20}?[:,.?!-]|` +
	`(?:let'?s |lets |let us |i'?d like to |can we |we can |time to )?(?:now )?(?:move|moving|switch|switching|turn|turning|jump|jumping|go|going) (?:on |over |gears |back )?(?:to|and) (?:another|something|a (?:new|different)|the (?:next|other))\b|` +
	`(?:let'?s |lets |let us )(?:now )?(?:move on to|switch (?:over )?to|turn to|talk about|leave (?:this|that|it) (?:for now|there|at that|aside|here))\b|moving on\b|` +
	`also[, ]+(?:completely |totally |entirely )?(?:unrelated|on another)\b|(?:now|then) (?:for |to |on to )?something (?:completely |totally |entirely )?(?:different|else|new|other)\b|something (?:new|other)\s*[:,-]|` +
	`while (?:you'?re|i have you|we'?re) (?:at it|here)\b|(?:quick |one )?(?:side ?note|aside)\b|for (?:a|my|our) (?:different|other|another|separate) project\b|parking (?:this|that)\b)`)
