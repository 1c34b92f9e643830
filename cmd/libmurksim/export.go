package main

// #include "murksim.h"
import "C"

import (
	"context"
	"errors"
	"unsafe"

	"github.com/murksim/murksim/replay"
)

//export murksim_api_version
func murksim_api_version() C.int32_t { return C.MURKSIM_API_VERSION }

//export murksim_version
func murksim_version(buffer *C.char, size C.uint64_t) C.uint64_t {
	return copyString(replay.ThisBuild().Version, buffer, size)
}

//export murksim_last_error
func murksim_last_error(buffer *C.char, size C.uint64_t) C.uint64_t {
	return copyString(lastMessage(), buffer, size)
}

// copyString copies what fits of a text, and a zero byte.
func copyString(s string, buffer *C.char, size C.uint64_t) C.uint64_t {
	if to, err := bytesAt(unsafe.Pointer(buffer), uint64(size)); err == nil && len(to) > 0 {
		to[copy(to[:len(to)-1], s)] = 0
	}
	return C.uint64_t(len(s))
}

//export murksim_text_size
func murksim_text_size(handle C.murksim_handle, size *C.uint64_t) C.murksim_status {
	return call(func() error {
		if size == nil {
			return errNull
		}
		return with(uint64(handle), func(t text) error {
			*size = C.uint64_t(len(t))
			return nil
		})
	})
}

//export murksim_text_copy
func murksim_text_copy(handle C.murksim_handle, buffer *C.char, size C.uint64_t) C.murksim_status {
	return call(func() error {
		to, err := bytesAt(unsafe.Pointer(buffer), uint64(size))
		if err != nil {
			return err
		}
		return with(uint64(handle), func(t text) error {
			if len(to) != len(t) {
				return badArgument("the buffer has %d bytes, the text %d", len(to), len(t))
			}
			copy(to, t)
			return nil
		})
	})
}

//export murksim_free
func murksim_free(handle C.murksim_handle) C.murksim_status {
	return call(func() error { return free(uint64(handle)) })
}

//export murksim_command
func murksim_command(count C.int32_t, arguments C.murksim_strings, poll C.murksim_poll, user unsafe.Pointer, exitStatus *C.int32_t, output, errs *C.murksim_handle) C.murksim_status {
	return call(func() error {
		args, err := stringsAt(count, arguments)
		if err != nil {
			return err
		}
		if exitStatus == nil {
			return errNull
		}
		var status int
		var out, said text
		err = interruptible(pollOf(poll, user), func(ctx context.Context) (err error) {
			status, out, said, err = callCommand(ctx, args)
			return err
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		*exitStatus = C.int32_t(status)
		give(output, out)
		give(errs, said)
		return err
	})
}

//export murksim_scenario_info
func murksim_scenario_info(scenario C.murksim_string, count C.int32_t, sets C.murksim_strings, to *C.murksim_handle) C.murksim_status {
	return call(func() error {
		list, err := stringsAt(count, sets)
		if err != nil {
			return err
		}
		if scenario == nil || to == nil {
			return errNull
		}
		t, err := aboutScenario(C.GoString(scenario), list)
		if err == nil {
			give(to, t)
		}
		return err
	})
}

// call calls the body of a function of C. Its error, or its panic, is what the function returns.
func call(f func() error) C.murksim_status { return report(guarded(f)) }

var errNull = badArgument("a pointer is null that must not be")

// give returns a new handle, unless to is null.
func give(to *C.murksim_handle, r resource) {
	if to != nil {
		*to = C.murksim_handle(newHandle(r))
	}
}

// maxBytes is the most that a buffer of C may have.
const maxBytes = 1 << 46

// bytesAt returns a buffer of C.
func bytesAt(p unsafe.Pointer, size uint64) ([]byte, error) {
	switch {
	case size == 0:
		return nil, nil
	case p == nil:
		return nil, errNull
	case size > maxBytes:
		return nil, badArgument("a buffer cannot have %d bytes", size)
	}
	return unsafe.Slice((*byte)(p), int(size)), nil
}

// maxStrings is the most that a list may have.
const maxStrings = 1 << 20

func stringsAt(count C.int32_t, list C.murksim_strings) (all []string, err error) {
	switch {
	case count < 0 || count > maxStrings:
		return nil, badArgument("a list cannot have %d texts", count)
	case count > 0 && list == nil:
		return nil, errNull
	case count == 0:
		return nil, nil
	}
	for _, s := range unsafe.Slice((*C.murksim_string)(unsafe.Pointer(list)), int(count)) {
		if s == nil {
			return nil, errNull
		}
		all = append(all, C.GoString(s))
	}
	return all, nil
}
