/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dictionary with which the compression of header blocks begins: SPDY/3 section 2.6.10.1. Names
 * and values that are frequent, each with its length in front, then text without lengths.
 */
#include "agent/stream/spdy_headers.h"

#define WORD(length, text) "\0\0\0" length text

const char spdy_headers_dictionary[SPDY_HEADERS_DICTIONARY_BYTES + 1] = WORD(
    "\x07", "options") WORD("\x04", "head") WORD("\x04", "post") WORD("\x03", "put")
    WORD("\x06", "delete") WORD("\x05", "trace") WORD("\x06", "accept") WORD(
        "\x0e", "accept-charset") WORD("\x0f", "accept-encoding") WORD("\x0f", "accept-language")
        WORD("\x0d", "accept-ranges") WORD("\x03", "age") WORD("\x05", "allow") WORD(
            "\x0d", "authorization") WORD("\x0d", "cache-control") WORD("\x0a", "connection")
            WORD("\x0c", "content-base") WORD("\x10", "content-encoding") WORD(
                "\x10", "content-language") WORD("\x0e", "content-length")
                WORD("\x10", "content-location") WORD("\x0b", "content-md5") WORD(
                    "\x0d",
                    "content-range") WORD("\x0c",
                                          "content-type") WORD("\x04",
                                                               "date") WORD("\x04", "etag")
                    WORD("\x06", "expect") WORD("\x07", "expires") WORD("\x04", "from")
                        WORD("\x04", "host") WORD("\x08", "if-match") WORD(
                            "\x11",
                            "if-modified-since") WORD("\x0d", "if-none-match")
                            WORD("\x08", "if-range") WORD("\x13", "if-unmodified-since") WORD(
                                "\x0d",
                                "last-modified") WORD("\x08",
                                                      "location") WORD("\x0c", "max-forwards")
                                WORD("\x06", "pragma") WORD("\x12", "proxy-authenticate") WORD(
                                    "\x13",
                                    "proxy-authorization")
                                    WORD("\x05", "range") WORD("\x07", "referer") WORD(
                                        "\x0b",
                                        "retry-after") WORD("\x06", "server")
                                        WORD("\x02", "te") WORD("\x07", "trailer") WORD(
                                            "\x11",
                                            "transfer-encoding") WORD("\x07",
                                                                      "upgrade") WORD("\x0a",
                                                                                      "user-agent")
                                            WORD("\x04", "vary") WORD("\x03", "via") WORD(
                                                "\x07",
                                                "warning") WORD("\x10", "www-authenticate")
                                                WORD("\x06", "method") WORD("\x03", "get") WORD(
                                                    "\x06",
                                                    "status") WORD("\x06",
                                                                   "200 OK") WORD("\x07", "version")
                                                    WORD("\x08", "HTTP/1.1") WORD("\x03", "url")
                                                        WORD("\x06",
                                                             "public") WORD("\x0a", "set-cookie")
                                                            WORD("\x0a", "keep-alive") WORD(
                                                                "\x06",
                                                                "origin") "100101201202205206300302"
                                                                          "303304305306307402405406"
                                                                          "407408409410411412413414"
                                                                          "41541641"
                                                                          "7502504505203 "
                                                                          "Non-Authoritative "
                                                                          "Information204 No "
                                                                          "Content301 Moved "
                                                                          "Permanently40"
                                                                          "0 Bad Request401 "
                                                                          "Unauthorized403 "
                                                                          "Forbidden404 Not "
                                                                          "Found500 Internal "
                                                                          "Server Error"
                                                                          "501 Not Implemented503 "
                                                                          "Service UnavailableJan "
                                                                          "Feb Mar Apr May Jun Jul "
                                                                          "Aug Sept O"
                                                                          "ct Nov Dec 00:00:00 "
                                                                          "Mon, Tue, Wed, Thu, "
                                                                          "Fri, Sat, Sun, "
                                                                          "GMTchunked,text/"
                                                                          "html,imag"
                                                                          "e/png,image/jpg,image/"
                                                                          "gif,application/"
                                                                          "xml,application/"
                                                                          "xhtml+xml,text/"
                                                                          "plain,text/"
                                                                          "javascript,"
                                                                          "publicprivatemax-age="
                                                                          "gzip,deflate,"
                                                                          "sdchcharset=utf-"
                                                                          "8charset=iso-8859-1"
                                                                          ",utf-,*,enq=0.";
