/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the scheduler's thread: which are held while a lane is behind, and what counts. */
#include "test.h"

#include "base/mem.h"
#include "sched/driver/inbox.h"

static uv_mutex_t lock;
static struct driver_inbox inbox;
static struct list taken;

static void setup(void)
{
    CHECK_OK(uv_mutex_init(&lock));
    driver_inbox_init(&inbox, &lock);
    list_init(&taken);
}

static void teardown(void)
{
    CHECK(list_is_empty(&taken));
    driver_inbox_fini(&inbox);
    uv_mutex_destroy(&lock);
}

static void put(enum message_type type, const char *text)
{
    uv_mutex_lock(&lock);
    driver_inbox_put(&inbox, driver_message(type, str_of(text)));
    uv_mutex_unlock(&lock);
}

static void take(void)
{
    uv_mutex_lock(&lock);
    driver_inbox_take(&inbox, &taken);
    uv_mutex_unlock(&lock);
}

static void check_next(bool is_full, const char *text)
{
    struct driver_message *m = driver_inbox_next(&inbox, &taken, is_full);
    CHECK_STR(str_of(m ? m->text : "none"), text);
    free(m);
}

TEST(messages_come_in_order_and_count_until_they_are_taken)
{
    setup();
    put(MESSAGE_LINE, "one");
    put(MESSAGE_LEAD, "");
    put(MESSAGE_LINE, "three");
    CHECK_INT(inbox.bytes, 8);
    take();
    CHECK_INT(inbox.bytes, 0);
    check_next(false, "one");
    check_next(false, "");
    check_next(false, "three");
    check_next(false, "none");
    teardown();
}

TEST(events_wait_while_a_lane_is_behind_and_others_overtake_them)
{
    setup();
    put(MESSAGE_LIST_BEGIN, "b");
    put(MESSAGE_PAGE, "page");
    put(MESSAGE_ANSWER, "answer");
    put(MESSAGE_LIST_END, "e");
    put(MESSAGE_SYNCED, "s");
    put(MESSAGE_RELOAD, "reload");
    put(MESSAGE_LINE, "line");
    put(MESSAGE_EXPLAIN, "explain");
    put(MESSAGE_STOP, "stop");
    take();
    check_next(true, "answer");
    check_next(true, "reload");
    check_next(true, "explain");
    check_next(true, "stop");
    check_next(true, "none");
    for (const char *const *text = (const char *[]){ "b", "page", "e", "s", "line", NULL }; *text;
         text++)
        check_next(false, *text);
    check_next(false, "none");
    teardown();
}

TEST(held_messages_count_as_waiting_ones_in_each_round)
{
    setup();
    put(MESSAGE_LINE, "four");
    take();
    check_next(true, "none");
    CHECK_INT(inbox.bytes, 4);
    put(MESSAGE_LINE, "seven..");
    put(MESSAGE_LEAD, "");
    CHECK_INT(inbox.bytes, 11);
    take();
    CHECK_INT(inbox.bytes, 4); /* what the round has taken is about to be handled */
    check_next(true, "");
    check_next(true, "none");
    CHECK_INT(inbox.bytes, 11);
    take(); /* nothing new */
    CHECK_INT(inbox.bytes, 11);
    check_next(false, "four"); /* the lane has caught up */
    CHECK_INT(inbox.bytes, 7);
    check_next(true, "none"); /* and is behind again */
    CHECK_INT(inbox.bytes, 7);
    check_next(false, "seven..");
    CHECK_INT(inbox.bytes, 0);
    CHECK_INT(inbox.held_bytes, 0);
    teardown();
}

TEST(held_messages_come_before_those_of_a_later_round)
{
    setup();
    put(MESSAGE_LINE, "old");
    take();
    check_next(true, "none");
    put(MESSAGE_LINE, "new");
    take();
    check_next(false, "old");
    check_next(false, "new");
    check_next(false, "none");
    put(MESSAGE_LINE, "left");
    take();
    check_next(true, "none"); /* freed at the end */
    teardown();
}

TEST_MAIN
