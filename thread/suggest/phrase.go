package suggest

import (
	"regexp"
	"strings"
)

// another finds the wish to try another way. Each phrase names the change of the whole approach:
// "another test" or "a different name" are not among them.
var another = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`(?:let'?s|lets|let us|we (?:could|should)|i(?:'d| would) (?:like|rather|want)(?: to)?|i want to|can (?:we|you)|could (?:we|you)|please|maybe|how about we|why don'?t we) (?:now |instead |also |just )?(?:try|take|explore|use|attempt|go with|consider) (?:a |an |some )?(?:(?:completely|totally|entirely|very|whole) )?(?:another|different|new|alternative|other|fresh) (?:approach|way|strategy|route|direction|design|solution|idea|path|tack|angle)`,
	`^(?:try|take|explore|attempt) (?:a |an )?(?:(?:completely|totally|entirely) )?(?:another|different|new|alternative|other|fresh) (?:approach|way|strategy|route|direction|design|solution|idea|path|tack|angle)`,
	`^(?:another|different|alternative|new) (?:approach|strategy|idea|plan|design)\s*[:,-]`,
	`(?:let'?s|lets) (?:start over|start from scratch|begin again|scrap (?:this|that|it|everything)|throw (?:this|that|it) away|go back to the drawing board)`,
	`^(?:start over|start from scratch|scrap (?:that|this|it|everything|all of (?:this|that)))`,
	`(?:this|that|the current) approach (?:is|was|does|doesn'?t|isn'?t|won'?t|will not|is not) (?:not )?(?:work|working|going|lead|a dead end|dead|wrong|the right)`,
	`what if we (?:instead|did it differently|took (?:a |an)(?:other|different))`,
	`as an (?:alternative|experiment),? (?:try|implement|build|do|rewrite|write|use)`,
	`(?:in|as) a (?:separate|parallel) (?:experiment|attempt|branch of thought)`,
	`(?:probieren|versuchen) wir (?:mal )?(?:einen|eine) (?:ganz )?ander(?:en|e|es) (?:ansatz|weg|lösung|idee)`,
	`(?:lass uns|lasst uns) (?:mal )?(?:einen|eine) (?:ganz )?ander(?:en|e) (?:ansatz|weg|lösung|idee)`,
}, `|`) + `)`)

// refers is a wish that speaks of another approach without wanting one now.
var refers = regexp.MustCompile(`(?i)\b(?:do(?: no|n'?)t|never|no need to|before (?:we|you)|instead of|without|rather than|why did(?:n'?t)? (?:you|we)|did (?:you|we)|should(?:n'?t)? have|explain|describe|document|list|compare|summari[sz]e|which)\b[^.!?\n]{0,40}$`)

// wantsAnother returns the phrase by which a prompt asks for another approach.
func wantsAnother(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	at := another.FindStringIndex(prompt)
	if at == nil || refers.MatchString(prompt[:at[0]]) {
		return ""
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
var marker = regexp.MustCompile(`(?i)^\s*(?:ok(?:ay)?[,.!]?\s+|so[,.]?\s+|now[,.]?\s+|great[,.!]?\s+|thanks[,.!]?\s+|and\s+)*(?:(?:on |and )?(?:a |an )?(?:completely |totally |entirely )?(?:unrelated|different topic|new topic|new subject|other topic|different subject|separate topic|different question|unrelated question|separate question)\b|on (?:a different|another|a side|an unrelated) (?:note|topic|subject)\b|by the way\b|btw\b|switching (?:gears|topics?|subjects?)\b|changing (?:the )?(?:topic|subject)\b|something (?:completely |totally |entirely )?(?:different|else)\s*[:,-]|ganz was anderes\b|anderes thema\b)`)
