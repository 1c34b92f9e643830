package allow

import (
	"cmp"
	"slices"
	"time"
)

func excused() time.Time {
	time.Sleep(1) //detcheck:allow clock the viewer waits, no world does
	//detcheck:allow clock only a log shows it
	return time.Now()
}

type item struct{ id int }

//detcheck:allow clock a reason at the head of a function covers one line only // want `allow: no finding of clock here; delete the comment`
func head() time.Time {

	return time.Now() // want `clock: time.Now`
}

// Comments below each other cover the line below all of them.
func stacked(items []item, more chan item) {
	//detcheck:allow sort ids are unique
	//detcheck:allow goroutine the sender is done by now
	slices.SortFunc(append(items, <-more), func(a, b item) int { return cmp.Compare(a.id, b.id) })
}

func wrong() {
	time.Sleep(1) //detcheck:allow clock // want `clock: time.Sleep` `allow: an exception from clock needs a reason`
	time.Sleep(2) //detcheck:allow sort of another rule // want `clock: time.Sleep` `allow: no finding of sort here`
	time.Sleep(3) //detcheck:allow clocks misspelt // want `clock: time.Sleep` `allow: there is no rule clocks`
	time.Sleep(4) //detcheck:allow // want `clock: time.Sleep` `allow: the comment names no rule`
	time.Sleep(5) //detcheck:allowclock why // want `clock: time.Sleep` `allow: the comment must read`
	// detcheck:allow clock a directive has no space before its name
	time.Sleep(6) // want `clock: time.Sleep`
	//detcheck:allow clock too far away // want `allow: no finding of clock here`

	time.Sleep(7) // want `clock: time.Sleep`
}
