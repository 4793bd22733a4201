package suggest

// feature is something that a prompt says, in one of many ways.
type feature int

// What speaks for another approach, and against it.
const (
	named     feature = iota // another way is asked for as such
	afresh                   // it begins again
	givenUp                  // the work so far, or a part of it by name, is given up
	verdict                  // the way so far is judged a bad one, or regretted
	supposed                 // what if we did it like this
	beside                   // next to the work so far, to be compared with it
	removed                  // a part goes, which alone is work as usual
	request                  // something is asked for
	contrast                 // in place of what is there, or less of it
	asks                     // how things are
	small                    // a detail
	condition                // only if something happens
	repair                   // what is there is to become better

	fails    // it still does not work
	leaves   // another subject begins
	turns    // another subject may begin
	task     // a task is given that says itself what it is about
	leans    // on what was said before
	staged   // the next step of a plan
	refersTo // something that was named before, in the prompt itself or in the thread
	extends  // one more part of what they work on is asked for

	features
)

// weights say how much each feature speaks for another approach.
var weights = [features]int{
	named: 3, afresh: 3, givenUp: 2, verdict: 2, supposed: 2, beside: 2, removed: 1, request: 1, contrast: 1,
	asks: -3, small: -2, condition: -2, repair: -2,
}

// enough is the weight from which features together ask for another approach. No remark of doubt does by itself, and
// neither does a plain request.
const enough = 3

// wish reports whether a feature is a wish, which can be spoken of without being one.
func (f feature) wish() bool { return weights[f] > 1 || f == removed }

// details are what can be given up without giving up the way.
var details = set(`part parts line lines column columns row rows field fields param parameter parameters argument flag property
option button section sentence word words file files folder directory test tests check checks log logs logging
print prefix suffix comment comments variable variables constant import imports branch table tables item items
entry entries step steps message messages process processes child container server version limit setting
settings link image page`)

// detail reports whether one of some words is a detail.
func detail(list []word) bool {
	for _, w := range list {
		if details()[w.text] {
			return true
		}
	}
	return false
}

// persons are those who say what they should do themselves.
var persons = set("we you i")

// refers reports whether what follows at words[i] is spoken of without being wanted now.
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
