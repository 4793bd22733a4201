package suggest

import (
	"regexp"
	"strings"
	"sync"
)

// sign is a way to say something that speaks for another approach, or against it.
type sign struct {
	weight int
	words  *regexp.Regexp
}

func signOf(weight int, alternatives ...string) sign {
	return sign{weight, regexp.MustCompile(`(?i)(?:` + strings.Join(alternatives, `|`) + `)`)}
}

// enough is the weight from which signs together ask for another approach. No single remark of doubt does, and neither
// does a plain request.
const enough = 3

// Parts of the signs.
const (
	whole   = `(?:this|that|it|everything|all(?: of (?:this|that|it))?|the (?:whole|entire) \w+|(?:this|that|the|our|your)(?: [\w-]+){0,2} (?:thing|approach|design|code|tool|idea|plan|version|attempt|rewrite|module|solution|implementation|architecture|system|pipeline))`
	proceed = `(?:use|using|do|doing|go|build|make|write|try|switch|rewrite|replace|embed|wrap|put|generate|implement|model|move|keep only|redo|take|start|have|let|base|rely)`
)

// signs are asked of every prompt; each counts once. Most runs of the program ask none.
var signs = sync.OnceValue(func() []sign {
	return []sign{
		// The work so far is given up …
		signOf(2,
			`\b(?:scrap|ditch|abandon|discard|scratch|rip|tear|throw|chuck|toss|drop|bin|nuke|delete|forget|kill|dump|lose|remove|undo|revert|get rid of|give up on)\b(?: about)? `+whole+`(?:\s*(?:out|away|down))?(?:\s*[.,;:!-]|\s*$| (?:and|since|altogether|entirely|completely|in favou?r)\b)`,
			`\b(?:scrap|ditch|abandon|discard|rip out|tear out|throw (?:out|away)|drop|forget|give up on|get rid of|lose)\b(?: about)? (?:the |our |your |my |all )?[\w./' -]{2,40}?(?:,| and| in favou?r of|;|:| -) *(?:then |just |let'?s |we )*`+proceed+`\b`,
			`\b(?:changed my mind|on second thoughts?|thinking about (?:it|this) again|having second thoughts|plan b|new plan|wrong (?:path|track|way|tree|direction|road)|dead[ -]end|cul-de-sac|was a mistake|is a mistake|not working out|isn'?t working(?: out)?|is not working(?: out)?|doesn'?t work out|going nowhere|leads? nowhere|won'?t (?:cut it|scale|fly|do)|not (?:convinced|happy|sold|sure) (?:by|with|about|on|this|that)|don'?t (?:like|love) (?:where|how|the way|this|the (?:direction|approach|design))|(?:too|overly|getting|so) (?:complicated|complex|convoluted|messy)|over-?engineered|feels? (?:wrong|off|right|clumsy|heavy)|stuck|sunk cost|not the way|painted ourselves)\b`,
			`\b(?:would have been|might (?:be|have been)|(?:would|could) be|seems|sounds|is|a|an|have|got|had) (?:a |an |the )?(?:much |far |way )?(?:smarter|cleaner|better|nicer|simpler|saner|more elegant)(?: (?:idea|route|way|approach|plan|design|choice|option|solution|path|fit))\b`,
			`\bwould have been (?:smarter|better|simpler|easier)\b`,
			`\b(?:rather than|instead of) [^.!?]{3,60}? (?:re-?write|re-?build|re-?do|re-?implement|start)\b`),
		signOf(2,
			`\b(?:throw|rip|tear|chuck|kick|toss) (?:this|that|the|our|your|my) [\w-]+(?: [\w-]+)? (?:out|away|overboard)\b`,
			`\b(?:was|is|were|seems|looks like) (?:a |an |the )?(?:bad|poor|wrong|terrible|stupid|unfortunate) (?:idea|choice|call|decision|approach|fit|move|turn|tool)\b`,
			`\ba (?:much |far )?(?:better|cleaner|simpler|saner|nicer|smarter) (?:way|idea|approach|route|plan|option|design|solution) (?:would|might|could|may|is)\b`),
		// … it begins again …
		signOf(3,
			`\bfrom (?:scratch|zero|the ground up|first principles|a clean slate|a blank (?:page|slate))\b`,
			`\b(?:start|begin|starting|beginning)(?: \w+)? (?:over|again|afresh|anew|fresh|clean)\b(?: (?:with|from|using|on|and|but|in|as)\b|\s*[.,;:!-]|\s*$)`,
			`\b(?:clean slate|blank slate|square one|drawing board|do[- ]over|greenfield)\b`,
			`\b(?:re-?do|re-?write|re-?build|re-?implement|re-?architect|re-?think|re-?design) (?:`+whole+`|\w+ module)(?:\s*$|\s*[.,;:-]| (?:with|in|as|on|using|around|so|to|based|via|by|and)\b)`,
			`\b(?:the )?(?:whole|entire) (?:thing|lot|module|approach|design)(?: (?:once more|again|over))?(?: but)? (?:with|in|as|on|using|via)\b`,
			`\b(?:once more|again) but (?:as|with|in|on|using|this time)\b`),
		// … another way is named as such …
		signOf(3,
			`\b(?:completely|totally|radically|entirely|fundamentally|wholly|very) (?:different|fresh|new|other|simpler)(?: \w+)? (?:approach|way|version|variant|design|solution|idea|plan|route|look|model|implementation|direction|architecture|strategy|concept|take|angle|method|setup|structure|tack|path)\b`,
			`\b(?:the )?other way (?:a?round)\b`,
			`\b(?:turn|flip|think about|look at|approach|tackle|attack|solve) (?:it|this|that|the problem|things)(?: \w+)? (?:a?round|on its head|upside down|differently|from (?:another|a different|the other) \w+)\b`,
			`\b(?:try|do|let'?s do|attempt) (?:exactly |just )?the (?:opposite|reverse)\b`,
			`\b(?:go|try|take|do|pursue|explore|attempt|prefer|want|consider|prototype|build|implement|sketch)(?: (?:it|this|that|out|down|with|for))* (?:a |an |some |the )?(?:totally |completely |entirely |radically |quite )?(?:different|another|alternative|other|alternate|second|new|simpler|parallel|competing) (?:approach|way|version|variant|design|solution|idea|plan|route|model|implementation|direction|architecture|strategy|concept|take|method|tack|path)(?:\s*$|\s*[.,;:-]| (?:with|using|where|that|so|based|in|for|of|by|which|on|and)\b)`,
			`\bpivot(?:ing)? to\b`, `\b(?:new plan|plan b|other idea|different idea|counter-?proposal)\s*[:,-]`,
			`\b(?:i'?d|i would) rather (?:solve|build|tackle|approach|model|do) (?:this|it|that|the (?:whole )?(?:thing|problem))\b`,
			`\b(?:replace|swap) (?:this|that|our|the (?:current|whole|entire))(?: \w+)? (?:approach|design|code|tool|idea|plan|architecture|solution|implementation|module|system|thing|setup) (?:by|with|for)\b`,
			`\bas a (?:second|different|separate|competing|alternative) (?:version|variant|implementation|prototype|attempt|approach|design)\b`,
			`\b(?:explore|prototype|sketch|try out|look (?:at|into)|think about|consider) (?:a|an) (?:[\w-]+ ){1,3}(?:design|approach|architecture|solution|model|variant|version)\b`,
			`\b(?:prototype|build|sketch|write|make) (?:a|an|that|this|me a) (?:second |different |separate |competing |alternative )?(?:version|variant|alternative)\b`),
		// … or next to the work so far, to be compared with it.
		signOf(2,
			`\b(?:in parallel|on the side|side by side|next to (?:this|it|the (?:old|current|existing))|alongside (?:this|it|the (?:old|current|existing))|as an experiment|as a spike|proof of concept|spike (?:on|out)?)\b`,
			`\b(?:so (?:that )?(?:i|we) can (?:compare|pick|choose|decide|see|judge)|to (?:compare|see which|find out which)|see (?:how|what|whether|if|which)(?: \w+){0,3} (?:compares?|looks?|happens|feels?|performs?|is (?:easier|better|faster|nicer|simpler|cleaner))|and compare)\b`,
			`\b(?:a|another|one) (?:second |different |separate |alternative |other |quick )?(?:version|variant|prototype|alternative|implementation)(?: of (?:it|this|that|the \w+))? (?:with|in|where|that|using|based|without|on)\b`),
		// It is a request …
		signOf(1,
			`\b(?:let'?s|lets|let me|let us|i'?d (?:like|rather|prefer)|i want|i would|we should|we could|we'?d|maybe|perhaps|please|can (?:we|you)|could (?:we|you)|how about|what about|what if|why don'?t|try|prototype|experiment|explore|pivot|reimplement)\b`,
			`(?:^|[.,;:!?] +|\band (?:just |then )?|\bplease |\b(?:then|now|so) )`+proceed+`\b`),
		// … about the way in which things are done …
		signOf(1,
			`\b(?:instead|rather|altogether|at all|from the (?:start|beginning|outset)|nothing else|give it a (?:go|shot|try|whirl)|properly|for all of (?:this|that)|experiment with|based on|everywhere|get rid of)\b(?: *[^o ]|\s*$)`,
			`\b(?:solve|solving|tackle|do|doing|model|attack|implement) (?:this|it|that|all of this|the (?:whole )?(?:problem|thing))(?: \w+){0,3} (?:with|without|in|as|using|via|by|through|on)\b`,
			`\bbut as (?:a|an)\b`, `\bgive (?:it|that|this) a (?:go|shot|try|whirl|chance)\b`, `\b(?:do|replace|handle|cover) all of (?:this|that|it)\b`),
		// … and neither a question about it, nor about a small part.
		signOf(-3,
			`^(?:so |and |but |ok |hm+,? )?(?:is|are|was|were|did|do|does|has|have|had|why|which|when|where|who|how (?:would|does|do|did|is|are|hard|much|many|long)|what (?:are|is|was|does|did|would|other|do|makes|kind|happens)|should)\b[^.!]*(?:\?|$)`,
			`\bjust curious\b`, `\b(?:explain|describe|summari[sz]e|list|document|compare) (?:the|this|that|our|your|all|it|alternative|possible|both|other|how|why)\b`),
		signOf(-2,
			`\b(?:for now|for the moment|the last|the test|a test|flaky|typo|wording|colou?rs?|names?|messages?|label|button|icon|font|margin|comment|commit|spelling|title)\b`),
	}
})

// weighs reports whether a prompt asks for another approach in words of its own, and which of them say so.
func weighs(prompt string) string {
	if len(prompt) > maxWeighed {
		prompt = prompt[:maxWeighed]
	}
	sum, best, said := 0, 0, ""
	for _, s := range signs() {
		at := s.words.FindStringIndex(prompt)
		if at == nil || s.weight > 0 && refers.MatchString(prompt[:at[0]]) {
			continue
		}
		sum += s.weight
		if s.weight > best {
			best, said = s.weight, prompt[at[0]:at[1]]
		}
	}
	if sum < enough || best < 2 {
		return ""
	}
	return strings.Trim(said, " .,;:!?-")
}

// maxWeighed is how much of a prompt is weighed: who wants another way says so at once.
const maxWeighed = 400
