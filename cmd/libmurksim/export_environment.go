package main

// #include "murksim.h"
import "C"

import (
	"unsafe"

	"github.com/murksim/murksim/environment"
)

//export murksim_env_open
func murksim_env_open(scenario C.murksim_string, count C.int32_t, sets C.murksim_strings, worlds C.int32_t, first C.uint64_t, workers C.int32_t, seed C.uint64_t, autoreset C.murksim_autoreset, maxMemory C.uint64_t, to *C.murksim_handle) C.murksim_status {
	return call(func() error {
		list, err := stringsAt(count, sets)
		switch {
		case err != nil:
			return err
		case scenario == nil || to == nil:
			return errNull
		case worlds < 1 || worlds > environment.MaxWorlds:
			return badArgument("there can be 1 to %d worlds, not %d", environment.MaxWorlds, worlds)
		case workers < 0 || workers > environment.MaxWorkers:
			return badArgument("workers must be 0 to %d, not %d", environment.MaxWorkers, workers)
		case autoreset < C.MURKSIM_NEXT_STEP || autoreset > C.MURKSIM_DISABLED:
			return badArgument("there is no way %d to begin another episode", autoreset)
		}
		b, err := openBatch(C.GoString(scenario), list, environment.Config{
			Worlds: int(worlds), First: uint64(first), Workers: int(workers), Seed: uint64(seed), Autoreset: environment.Autoreset(autoreset),
		}, uint64(maxMemory))
		if err == nil {
			give(to, b)
		}
		return err
	})
}

//export murksim_env_info
func murksim_env_info(handle C.murksim_handle, to *C.murksim_handle) C.murksim_status {
	return call(func() error {
		if to == nil {
			return errNull
		}
		return with(uint64(handle), func(b *batch) error {
			t, err := b.text()
			if err == nil {
				give(to, t)
			}
			return err
		})
	})
}

//export murksim_env_bind
func murksim_env_bind(handle C.murksim_handle, from *C.murksim_tensors) C.murksim_status {
	return call(func() error {
		if from == nil {
			return errNull
		}
		if from.struct_size != C.sizeof_murksim_tensors {
			return badArgument("struct_size is %d; this library has tensors of %d bytes", from.struct_size, C.sizeof_murksim_tensors)
		}
		var t tensors
		for _, x := range [...]struct {
			to   *[]byte
			from *C.murksim_buffer
		}{
			{&t.actions, &from.actions}, {&t.observations, &from.observations}, {&t.final, &from.final_observations}, {&t.mask, &from.mask},
			{&t.rewards, &from.rewards}, {&t.terminated, &from.terminated}, {&t.truncated, &from.truncated}, {&t.alive, &from.alive},
			{&t.began, &from.began}, {&t.steps, &from.steps}, {&t.returns, &from.returns},
		} {
			var err error
			if *x.to, err = bytesAt(x.from.data, uint64(x.from.size)); err != nil {
				return err
			}
		}
		return with(uint64(handle), func(b *batch) error { return b.bind(&t) })
	})
}

//export murksim_env_reset
func murksim_env_reset(handle C.murksim_handle, seeds C.murksim_numbers, seedCount C.uint64_t, flags C.murksim_flags, flagCount C.uint64_t) C.murksim_status {
	return call(func() error {
		if seedCount > environment.MaxWorlds {
			return badArgument("there cannot be %d seeds", seedCount)
		}
		var list []uint64
		b, err := bytesAt(unsafe.Pointer(seeds), 8*uint64(seedCount))
		if err == nil {
			err = slice(&list, "seeds", b)
		}
		if err != nil {
			return err
		}
		mask, err := bytesAt(unsafe.Pointer(flags), uint64(flagCount))
		if err != nil {
			return err
		}
		return with(uint64(handle), func(b *batch) error { return b.Reset(list, mask) })
	})
}

//export murksim_env_step
func murksim_env_step(handle C.murksim_handle) C.murksim_status {
	return call(func() error { return with(uint64(handle), (*batch).step) })
}

//export murksim_env_policy
func murksim_env_policy(handle C.murksim_handle) C.murksim_status {
	return call(func() error { return with(uint64(handle), (*batch).policy) })
}

//export murksim_env_state
func murksim_env_state(handle C.murksim_handle, to *C.murksim_handle) C.murksim_status {
	return call(func() error {
		if to == nil {
			return errNull
		}
		return with(uint64(handle), func(b *batch) error {
			t, err := b.State()
			if err == nil {
				give(to, text(t))
			}
			return err
		})
	})
}

//export murksim_env_restore
func murksim_env_restore(handle C.murksim_handle, state C.murksim_string, size C.uint64_t) C.murksim_status {
	return call(func() error {
		from, err := bytesAt(unsafe.Pointer(state), uint64(size))
		if err != nil {
			return err
		}
		return with(uint64(handle), func(b *batch) error { return b.Restore(from) })
	})
}

//export murksim_env_save
func murksim_env_save(handle C.murksim_handle, world C.int32_t, path C.murksim_string) C.murksim_status {
	return call(func() error {
		if path == nil {
			return errNull
		}
		return with(uint64(handle), func(b *batch) error { return b.save(int32(world), C.GoString(path)) })
	})
}

//export murksim_env_record_every
func murksim_env_record_every(handle C.murksim_handle, every C.uint64_t, folder C.murksim_string) C.murksim_status {
	return call(func() error {
		if folder == nil && every > 0 {
			return errNull
		}
		return with(uint64(handle), func(b *batch) error { return b.recordEvery(uint64(every), C.GoString(folder)) })
	})
}

//export murksim_env_picture_size
func murksim_env_picture_size(handle C.murksim_handle, cell C.int32_t, width, height *C.int32_t) C.murksim_status {
	return call(func() error {
		if width == nil || height == nil {
			return errNull
		}
		return with(uint64(handle), func(b *batch) error {
			size, err := pictureSize(b.Scenario(0), int32(cell))
			if err == nil {
				*width, *height = C.int32_t(size.X), C.int32_t(size.Y)
			}
			return err
		})
	})
}

//export murksim_env_picture
func murksim_env_picture(handle C.murksim_handle, world, field, cell C.int32_t, low, high C.double, buffer *C.uint8_t, size C.uint64_t) C.murksim_status {
	return call(func() error {
		to, err := bytesAt(unsafe.Pointer(buffer), uint64(size))
		if err != nil {
			return err
		}
		return with(uint64(handle), func(b *batch) error {
			return b.picture(int32(world), int32(field), int32(cell), float64(low), float64(high), to)
		})
	})
}
