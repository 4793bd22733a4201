package work

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"orchestrator/thread"
)

// The names of the checks.
const (
	CheckFormat   = "format"
	CheckLint     = "lint"
	CheckTypes    = "types"
	CheckTests    = "tests"
	CheckCoverage = "coverage"
)

// CheckNames returns the names of all checks, in their order.
func CheckNames() []string {
	return []string{CheckFormat, CheckLint, CheckTypes, CheckTests, CheckCoverage}
}

// verdict returns where a check's verdict stands, nil if it has a percentage instead or is not known.
func (v *Validation) verdict(name string) *Verdict {
	switch name {
	case CheckFormat:
		return &v.Format
	case CheckLint:
		return &v.Lint
	case CheckTypes:
		return &v.Types
	case CheckTests:
		return &v.Tests
	default:
		return nil
	}
}

// Set writes down what a check says. A name that no check has is ignored.
func (v *Validation) Set(name string, is Verdict) {
	if at := v.verdict(name); at != nil {
		*at = is
	}
}

// Says returns in a word or number what a check says, "" if it says nothing.
func (v *Validation) Says(name string) string {
	switch {
	case v == nil:
		return ""
	case name == CheckCoverage && v.Coverage != nil:
		return strconv.FormatFloat(*v.Coverage, 'f', -1, 64) + "%"
	case v.verdict(name) != nil:
		return string(*v.verdict(name))
	default:
		return ""
	}
}

// Empty reports whether no check says anything.
func (v *Validation) Empty() bool {
	for _, name := range CheckNames() {
		if v.Says(name) != "" {
			return false
		}
	}
	return true
}

// Over returns what is said here and, of checks that say nothing here, what was said before.
func (v Validation) Over(before Validation) Validation {
	for _, name := range CheckNames() {
		if at := v.verdict(name); at != nil && *at == "" {
			*at = *before.verdict(name)
		}
	}
	if v.Coverage == nil {
		v.Coverage = before.Coverage
	}
	if v.At.Before(before.At) {
		v.At = before.At
	}
	return v
}

// ParseValidation reads what somebody says of checks: "format:pass,lint:fail,coverage:85".
func ParseValidation(text string) (Validation, error) {
	const form = "write it as format:pass,lint:pass,types:skipped,tests:fail,coverage:85"
	var v Validation
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, is, ok := strings.Cut(one, ":")
		name, is = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(is))
		switch at := v.verdict(name); {
		case !ok || at == nil && name != CheckCoverage:
			return Validation{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "no check in %q: there are %s", thread.Excerpt(one), strings.Join(CheckNames(), ", ")), form)
		case v.Says(name) != "":
			return Validation{}, thread.Kindf(thread.ErrInvalid, "%s has two results", name)
		case at == nil:
			percent, err := strconv.ParseFloat(strings.TrimSuffix(is, "%"), 64)
			if err != nil || math.IsNaN(percent) || percent < 0 || percent > 100 {
				return Validation{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "coverage is a percentage, not %q", thread.Excerpt(is)), form)
			}
			v.Coverage = &percent
		default:
			verdict, known := map[string]Verdict{"pass": Pass, "passed": Pass, "fail": Fail, "failed": Fail, "skipped": Skipped, "skip": Skipped}[is]
			if !known {
				return Validation{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "%s is pass, fail or skipped, not %q", name, thread.Excerpt(is)), form)
			}
			*at = verdict
		}
	}
	if v.Empty() {
		return Validation{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "no results of checks"), form)
	}
	return v, nil
}

// Compared returns in lines what was claimed of checks beside what they said, and how many claims they deny:
// "tests: pass (claimed), fail (checked)".
func Compared(claimed, checked *Validation) (lines []string, denied int) {
	for _, name := range CheckNames() {
		said, is := claimed.Says(name), checked.Says(name)
		switch {
		case said == "" && is == "":
		case said == "":
			lines = append(lines, fmt.Sprintf("%s: %s (checked)", name, is))
		case is == "":
			lines = append(lines, fmt.Sprintf("%s: %s (claimed)", name, said))
		case said == is:
			lines = append(lines, fmt.Sprintf("%s: %s (claimed and checked)", name, is))
		default:
			lines = append(lines, fmt.Sprintf("%s: %s (claimed), %s (checked)", name, said, is))
			denied++
		}
	}
	return lines, denied
}

// Fails reports whether one of the checks failed, also one that has no verdict.
func (v *Validation) Fails() bool {
	return v.Output != "" || v.Format == Fail || v.Lint == Fail || v.Types == Fail || v.Tests == Fail
}
