package main

// #include "murksim.h"
import "C"

import (
	"context"
	"unsafe"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/engine"
)

//export murksim_recording_open
func murksim_recording_open(path C.murksim_string, count C.int32_t, states C.murksim_strings, workers C.int32_t, maxMemory C.uint64_t, poll C.murksim_poll, user unsafe.Pointer, to *C.murksim_handle) C.murksim_status {
	return call(func() error {
		files, err := stringsAt(count, states)
		if err != nil {
			return err
		}
		if path == nil || to == nil {
			return errNull
		}
		if workers < 0 || workers > engine.MaxWorkers {
			return badArgument("workers must be 0 to %d, not %d", engine.MaxWorkers, workers)
		}
		name := C.GoString(path)
		var r *recording
		err = interruptible(pollOf(poll, user), func(ctx context.Context) (err error) {
			r, err = openRecording(ctx, name, cli.Look{States: files, Workers: int(workers), MaxMemory: uint64(maxMemory)})
			return err
		})
		if err == nil {
			give(to, r)
		}
		return err
	})
}

//export murksim_recording_info
func murksim_recording_info(handle C.murksim_handle, to *C.murksim_handle) C.murksim_status {
	return call(func() error {
		if to == nil {
			return errNull
		}
		return with(uint64(handle), func(r *recording) error {
			t, err := r.about.text()
			if err == nil {
				give(to, t)
			}
			return err
		})
	})
}

//export murksim_recording_read
func murksim_recording_read(handle C.murksim_handle, field C.int32_t, first, every, count C.uint64_t, checked C.int32_t, buffer unsafe.Pointer, size C.uint64_t, poll C.murksim_poll, user unsafe.Pointer) C.murksim_status {
	return call(func() error {
		b, err := bytesAt(buffer, uint64(size))
		if err != nil {
			return err
		}
		return with(uint64(handle), func(r *recording) error {
			return interruptible(pollOf(poll, user), func(ctx context.Context) error {
				return r.read(ctx, int32(field), uint64(first), uint64(every), uint64(count), checked != 0, b)
			})
		})
	})
}

//export murksim_recording_frame
func murksim_recording_frame(handle C.murksim_handle, tick C.uint64_t, poll C.murksim_poll, user unsafe.Pointer, to *C.murksim_handle) C.murksim_status {
	return call(func() error {
		if to == nil {
			return errNull
		}
		return with(uint64(handle), func(r *recording) error {
			var line text
			err := interruptible(pollOf(poll, user), func(ctx context.Context) (err error) {
				line, err = r.frame(ctx, uint64(tick))
				return err
			})
			if err == nil {
				give(to, line)
			}
			return err
		})
	})
}

//export murksim_recording_picture_size
func murksim_recording_picture_size(handle C.murksim_handle, cell C.int32_t, width, height *C.int32_t) C.murksim_status {
	return call(func() error {
		if width == nil || height == nil {
			return errNull
		}
		return with(uint64(handle), func(r *recording) error {
			size, err := pictureSize(r.Scenario(), int32(cell))
			if err == nil {
				*width, *height = C.int32_t(size.X), C.int32_t(size.Y)
			}
			return err
		})
	})
}

//export murksim_recording_picture
func murksim_recording_picture(handle C.murksim_handle, field C.int32_t, tick C.uint64_t, cell C.int32_t, low, high C.double, buffer *C.uint8_t, size C.uint64_t, poll C.murksim_poll, user unsafe.Pointer) C.murksim_status {
	return call(func() error {
		b, err := bytesAt(unsafe.Pointer(buffer), uint64(size))
		if err != nil {
			return err
		}
		return with(uint64(handle), func(r *recording) error {
			return interruptible(pollOf(poll, user), func(ctx context.Context) error {
				return r.picture(ctx, int32(field), uint64(tick), int32(cell), float64(low), float64(high), b)
			})
		})
	})
}
