package main

// #include "murksim.h"
// #include <pthread.h>
// #include <stdlib.h>
// #include <string.h>
//
// // The message of the last failure on a thread. Go runs a call of C on the thread that made it, and so what the call calls in turn. It is
// // no _Thread_local: a library that is loaded late has little room for these.
// enum { size_of_message = 4096 };
// static pthread_key_t message;
// static pthread_once_t once = PTHREAD_ONCE_INIT;
//
// static void make_message(void) { pthread_key_create(&message, free); }
//
// static void set_message(const char *text, uint64_t length) {
// 	pthread_once(&once, make_message);
// 	char *held = pthread_getspecific(message);
// 	if (held == NULL && ((held = malloc(size_of_message)) == NULL || pthread_setspecific(message, held) != 0)) {
// 		free(held);
// 		return;
// 	}
// 	if (length >= size_of_message) length = size_of_message - 1;
// 	memcpy(held, text, length);
// 	held[length] = 0;
// }
//
// static const char *get_message(void) {
// 	pthread_once(&once, make_message);
// 	const char *held = pthread_getspecific(message);
// 	return held == NULL ? "" : held;
// }
//
// static int32_t call_poll(murksim_poll poll, void *user) { return poll(user); }
import "C"

import (
	"strings"
	"unsafe"
)

// The numbers of the header are those of status.go: others would make a constant below 0, which does not compile.
const _ = -uint((C.MURKSIM_OK - statusOK) | (C.MURKSIM_ERROR - statusError) | (C.MURKSIM_BAD_ARGUMENT - statusBadArgument) |
	(C.MURKSIM_BAD_HANDLE - statusBadHandle) | (C.MURKSIM_NOT_FOUND - statusNotFound) | (C.MURKSIM_DAMAGED - statusDamaged) |
	(C.MURKSIM_INCOMPATIBLE - statusIncompatible) | (C.MURKSIM_DIVERGED - statusDiverged) |
	(C.MURKSIM_CANCELLED - statusCancelled) | (C.MURKSIM_INTERNAL - statusInternal) |
	(C.MURKSIM_WORLD_FAILED - statusWorldFailed))

// report sets the message of this thread, unless err is nil, and returns its status.
func report(err error) C.murksim_status {
	if err == nil {
		return C.MURKSIM_OK
	}
	message := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "?")
	C.set_message((*C.char)(unsafe.Pointer(unsafe.StringData(message))), C.uint64_t(len(message)))
	return C.murksim_status(statusOf(err))
}

// lastMessage returns the message of this thread.
func lastMessage() string { return C.GoString(C.get_message()) }

// pollOf returns a function that calls that of C, or nil.
func pollOf(poll C.murksim_poll, user unsafe.Pointer) func() bool {
	if poll == nil {
		return nil
	}
	return func() bool { return C.call_poll(poll, user) != 0 }
}
