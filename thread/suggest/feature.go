package suggest

// feature is a meaning that a prompt can express in many ways.
type feature int

// The evidence for another approach, and against it.
const (
	named     feature = iota // another approach is asked for explicitly
	afresh                   // starting over
	givenUp                  // the work so far, or a named part of it, is given up
	verdict                  // the approach so far is criticised or regretted
	supposed                 // a hypothetical: what if we did it like this
	beside                   // an alternative beside the work so far, to compare
	removed                  // a part is removed, which alone is ordinary work
	request                  // something is requested
	contrast                 // instead of, or less of, what there is
	asks                     // a question about how things are
	small                    // a detail
	condition                // only under a condition
	repair                   // improving what there is

	fails    // it still fails
	leaves   // a change of subject
	turns    // a possible change of subject
	task     // a self-contained task
	leans    // a reference to what was said before
	staged   // the next step of a plan
	refersTo // something named before, in the prompt or in the thread
	extends  // one more part of the current work

	features
)

// featureNames are the sections of phrases.txt.
var featureNames = [features]string{
	named: "named", afresh: "afresh", givenUp: "given up", verdict: "verdict", supposed: "supposed", beside: "beside",
	removed: "removed", request: "request", contrast: "contrast", asks: "asks", small: "small", condition: "condition",
	repair: "repair", fails: "fails", leaves: "leaves", turns: "turns", task: "task", leans: "leans", staged: "staged",
	refersTo: "refers to", extends: "extends",
}

// weights say how strongly each feature indicates another approach.
var weights = [features]int{
	named: 3, afresh: 3, givenUp: 2, verdict: 2, supposed: 2, beside: 2, removed: 1, request: 1, contrast: 1,
	asks: -3, small: -2, condition: -2, repair: -2,
}

// enough is the weight from which features together indicate another approach. No expression of doubt does by itself,
// nor does a plain request.
const enough = 3

// wish reports whether a feature is a wish, which can be mentioned without being one.
func (f feature) wish() bool { return weights[f] > 1 || f == removed }

// details are things that can be given up without giving up the approach.
var details = set("details")

// detail reports whether one of some words is a detail.
func detail(list []word) bool {
	for _, w := range list {
		if details()[w.text] {
			return true
		}
	}
	return false
}

// persons are the words for who should do something.
var persons = set("persons")

// refers reports whether what follows words[i] is mentioned without being wanted now.
func refers(list []word, i int) bool {
	if i > 0 && !list[i].first {
		switch list[i-1].text {
		case "should", "must", "will", "cant", "does", "did", "which", "it", "they":
			if i < 2 || list[i-1].first || !persons()[list[i-2].text] {
				return true
			}
		}
	}
	for n := 0; n < 6 && i > 0 && !list[i].first; n++ {
		i--
		switch list[i].text {
		case "dont":
			return i == 0 || list[i-1].text != "why"
		case "not", "never", "without", "later", "before", "which",
			"explain", "describe", "document", "list", "compare", "summarize", "summarise":
			return true
		case "of", "than", "to": // instead of, rather than, no need to
			if i > 0 && (list[i-1].text == "instead" || list[i-1].text == "rather" || list[i-1].text == "need") {
				return true
			}
		}
	}
	return false
}
