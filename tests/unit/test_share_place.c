/* Objects of a web server and of a directory: what each answer and each failure means. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "server_posix.h"
#include "share/object_entry.h"

enum { MOST = 100, SLOW_BODY = 13 << 20 };

static char address[128], *file;
static _Atomic uint64_t moved;
static struct jw_share_options options = {.insecure = true};

static struct object_place *open_place(const char *where)
{
	struct object_place *place;

	moved = 0;
	options.place = where;
	place = object_place_open(NULL, &options, &moved);
	assert_non_null(place);
	return place;
}

static void file_is(const char *text)
{
	struct buf content;

	OK(os_read_file(why, file, MOST, &content));
	assert_string_equal(buf_text(&content), text);
	buf_free(&content);
	OK(os_remove(why, file));
}

/* ---- a web server */

TEST(each_status_means_something)
{
	static const struct {
		const char *answer;
		enum jw_code get, put;
		int64_t later_s; /* of both */
		bool closed;     /* nothing is put there from then on */
	} cases[] = {
		{"200 OK\r\n\r\n", JW_OK, JW_OK, -1, false},
		{"201 Created\r\n\r\n", JW_OK, JW_OK, -1, false},
		{"299 Fine\r\n\r\n", JW_OK, JW_OK, -1, false},
		{"300 Many\r\n\r\n", JW_ERR_IO, JW_ERR_IO, -1, false},
		{"399 Odd\r\n\r\n", JW_ERR_IO, JW_ERR_IO, -1, false},
		{"400 Bad\r\n\r\n", JW_ERR_IO, JW_ERR_FORMAT, -1, true},
		{"403 Forbidden\r\n\r\n", JW_ERR_IO, JW_ERR_FORMAT, -1, true},
		{"404 None\r\n\r\n", JW_ERR_NOT_FOUND, JW_ERR_FORMAT, -1, true},
		{"404 None\r\n\r\n<Error><Code>NoSuchBucket</Code></Error>", JW_ERR_IO, JW_ERR_FORMAT, -1,
		 true},
		{"404 None\r\n\r\n<Error><Code>NoSuchKey</Code></Error>", JW_ERR_NOT_FOUND, JW_ERR_FORMAT,
		 -1, true},
		{"408 Slow\r\n\r\n", JW_ERR_BUSY, JW_ERR_BUSY, 0, false},
		{"410 Gone\r\n\r\n", JW_ERR_NOT_FOUND, JW_ERR_FORMAT, -1, true},
		{"413 Large\r\n\r\n", JW_ERR_IO, JW_ERR_FORMAT, -1, false},
		{"429 Busy\r\nRetry-After: 7\r\n\r\n", JW_ERR_BUSY, JW_ERR_BUSY, 7, false},
		{"429 Busy\r\nRetry-After: 0\r\n\r\n", JW_ERR_BUSY, JW_ERR_BUSY, 0, false},
		{"500 Failed\r\n\r\n", JW_ERR_BUSY, JW_ERR_BUSY, 0, false},
		{"501 Unknown\r\n\r\n", JW_ERR_IO, JW_ERR_FORMAT, -1, true},
		{"504 Late\r\nRetry-After: 1\r\n\r\n", JW_ERR_BUSY, JW_ERR_BUSY, 1, false},
		{"505 Version\r\n\r\n", JW_ERR_IO, JW_ERR_FORMAT, -1, true},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct object_place *place = open_place(address);

		SERVER_SAYS(cases[i].answer, "200 OK\r\n\r\n");
		GIVES(cases[i].get, place->get(why, place, "v1/x", MOST, file));
		if (place->later_s != cases[i].later_s || os_exists(file) == (why->code != JW_OK))
			fail_msg("GET %s: %s", cases[i].answer, why->message);
		if (why->code)
			assert_non_null(strstr(why->message, "the server answers a GET with status "));
		files_put_text(folder, "file", "text");
		server.asked = 0;
		GIVES(cases[i].put, place->put(why, place, "v1/x", file));
		assert_int_equal(place->later_s, cases[i].later_s);
		assert_int_equal(server.asked, 1);
		GIVES(cases[i].closed ? JW_ERR_FORMAT : JW_OK, place->put(why, place, "v1/x", file));
		assert_int_equal(server.asked, cases[i].closed ? 1 : 2);
		OK(os_remove(why, file));
		place->close(place);
	}
}

TEST(bytes_come_and_go)
{
	struct object_place *place = open_place(address);

	SERVER_SAYS("200 OK\r\n\r\n0123456789");
	OK(place->get(why, place, "v1/x", 10, file));
	assert_int_equal(moved, 10);
	file_is("0123456789");
	GIVES(JW_ERR_LIMIT, place->get(why, place, "v1/x", 9, file));
	assert_false(os_exists(file));
	files_put_text(folder, "file", "abc");
	moved = 0;
	SERVER_SAYS("201 Created\r\n\r\n");
	OK(place->put(why, place, "v1/y", file));
	assert_int_equal(moved, 3);
	assert_true(strstr(server.requests[0], "PUT /base/v1/y HTTP/1.1\r\n") == server.requests[0]);
	assert_non_null(strstr(server.requests[0], "Content-Type: application/octet-stream\r\n"));
	assert_non_null(strstr(server.requests[0], "\r\n\r\nabc"));
	OK(os_remove(why, file));
	/* A file that is not there, and one that cannot be made */
	assert_int_equal(place->put(why, place, "v1/y", file), -1);
	assert_int_equal(server.asked, 1);
	assert_int_equal(place->get(why, place, "v1/y", MOST, "/nonexistent/file"), -1);
	assert_int_equal(server.asked, 1);
	place->close(place);
}

/* How long a place that is busy asks for counts, and one that says nothing has failed. */
/* Takes what a client sends in small steps, for longer than a document may take (16 s). */
static void *take_slowly(void *context)
{
	enum { STEP = 64 << 10, PAUSE_US = 100 * 1000 };
	static const char answer[] = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
	static char bytes[STEP];
	const int connection = accept(*(int *)context, NULL, NULL);
	size_t left = SLOW_BODY;
	ssize_t got;
	char *head;

	/* The head comes in one piece; what follows it is the body's beginning. */
	got = recv(connection, bytes, STEP - 1, 0);
	head = got > 0 ? strstr(bytes, "\r\n\r\n") : NULL;
	left -= head ? (size_t)(bytes + got - (head + 4)) : 0;
	while (left && (got = recv(connection, bytes, left < STEP ? left : STEP, 0)) > 0) {
		left -= (size_t)got;
		(void)usleep(PAUSE_US);
	}
	server_send(connection, answer, left ? 0 : sizeof answer - 1);
	(void)close(connection);
	return NULL;
}

TEST(a_slow_upload_may_take_its_time)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof own;
	const int room = 32 << 10;
	int slow = socket(AF_INET, SOCK_STREAM, 0);
	struct object_place *place;
	struct os_file *body;
	pthread_t taker;
	char where[64];

	assert_int_equal(setsockopt(slow, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
	assert_int_equal(bind(slow, (struct sockaddr *)&own, sizeof own), 0);
	assert_int_equal(listen(slow, 1), 0);
	assert_int_equal(getsockname(slow, (struct sockaddr *)&own, &size), 0);
	(void)snprintf(where, sizeof where, "http://127.0.0.1:%u/base", ntohs(own.sin_port));
	OK(os_file_open(why, file, OS_OPEN_CREATE, &body));
	OK(os_file_truncate(why, body, SLOW_BODY));
	os_file_close(body);
	place = open_place(where);
	assert_int_equal(pthread_create(&taker, NULL, take_slowly, &slow), 0);
	OK(place->put(why, place, "v1/x", file));
	assert_int_equal(pthread_join(taker, NULL), 0);
	place->close(place);
	(void)close(slow);
	OK(os_remove(why, file));
}

TEST(a_busy_place_is_left_alone)
{
	struct object_thread thread = {.place = open_place(address)};
	struct object_answer answer = {0};

	SERVER_SAYS("503 Busy\r\nRetry-After: 7\r\n\r\n", "");
	assert_int_equal(thread.place->get(why, thread.place, "v1/x", MOST, file), -1);
	object_say_failure(&thread, why, &answer);
	assert_int_equal(answer.said, OBJECT_LATER);
	assert_int_equal(answer.seconds, 7);
	assert_int_equal(thread.place->get(why, thread.place, "v1/x", MOST, file), -1);
	object_say_failure(&thread, why, &answer);
	assert_int_equal(answer.said, OBJECT_FAILED);
	assert_int_equal(answer.seconds, 0);
	thread.place->close(thread.place);
}

/* An address that is not allowed is the place's fault, and its password is not said. */
TEST(a_place_has_a_name)
{
	char secret[128];
	struct object_place *place;

	(void)snprintf(secret, sizeof secret, "http://ann:geheim@%s/base", server.site);
	place = open_place(secret);
	SERVER_SAYS("404 None\r\n\r\n", "302 Found\r\nLocation: http://192.0.2.1/\r\n\r\n",
				"302 Found\r\nLocation: ftp://192.0.2.1/\r\n\r\n");
	assert_int_equal(place->get(why, place, "v1/x", MOST, file), -1);
	assert_non_null(strstr(why->message, server.site));
	assert_null(strstr(why->message, "geheim"));
	assert_non_null(strstr(server.requests[0], "Authorization: Basic YW5uOmdlaGVpbQ==\r\n"));
	GIVES(JW_ERR_IO, place->get(why, place, "v1/x", MOST, file));
	assert_non_null(strstr(why->message, "only https is allowed; "));
	assert_int_equal(place->get(why, place, "v1/x", MOST, file), -1);
	/* A libcurl without FTP takes that for no address. */
	assert_true(strstr(why->message, "ftp://192.0.2.1:21: only https is allowed") ||
				strstr(why->message, "gives an invalid address: Unsupported URL scheme"));
	assert_null(strstr(why->message, "plain http"));
	place->close(place);
}

/* ---- a directory */

TEST(a_directory_has_objects)
{
	char *where = os_join(folder, "place"), *object = os_join(where, "v1/a/x");
	const mode_t mask = umask(0);
	struct object_place *place;
	struct os_stat stat;

	options.place = where;
	assert_null(object_place_open(why, &options, &moved));
	assert_int_equal(why->code, JW_ERR_NOT_FOUND);
	files_put_text(folder, "place", "");
	assert_null(object_place_open(why, &options, &moved));
	assert_int_equal(why->code, JW_ERR_UNSUPPORTED);
	OK(os_remove(why, where));
	OK(os_make_dirs(why, where, 0700));
	place = open_place(where);
	GIVES(JW_ERR_NOT_FOUND, place->get(why, place, "v1/a/x", MOST, file));
	files_put_text(folder, "file", "0123456789");
	OK(place->put(why, place, "v1/a/x", file));
	/* Whoever shares the place may write there, as the umask says. */
	OK(os_stat(why, where, &stat));
	mem_free(object);
	object = os_join(where, "v1/a");
	OK(os_stat(why, object, &stat));
	assert_int_equal(stat.mode & 0777, 0777);
	mem_free(object);
	object = os_join(where, "v1/a/x");
	files_put_text(folder, "file", "longer than the object");
	OK(place->get(why, place, "v1/a/x", 10, file));
	file_is("0123456789");
	GIVES(JW_ERR_LIMIT, place->get(why, place, "v1/a/x", 9, file));
	assert_false(os_exists(file));
	assert_int_equal(place->later_s, -1);
	(void)umask(mask);
	place->forget(place, "v1/a/x");
	assert_int_equal(os_stat(NULL, object, &stat), -1);
	assert_int_equal(place->put(why, place, "v1/a/x", file), -1);
	place->close(place);
	mem_free(where);
	mem_free(object);
}

/* A folder in an object's place stays, and nothing is left beside it. */
TEST(a_folder_in_the_way_stays)
{
	char *where = os_join(folder, "taken"), *object = os_join(where, "v1/x");
	struct object_place *place;
	struct os_names names;

	OK(os_make_dirs(why, object, 0700));
	files_put_text(folder, "file", "text");
	place = open_place(where);
	GIVES(JW_ERR_FORMAT, place->put(why, place, "v1/x", file));
	assert_non_null(strstr(why->message, "is not a file"));
	mem_free(object);
	object = os_join(where, "v1");
	OK(os_list(why, object, &names));
	assert_int_equal(names.count, 1);
	os_names_free(&names);
	OK(os_remove(why, file));
	place->close(place);
	mem_free(where);
	mem_free(object);
}

/* Of a few objects in a row, and of the place from then on */
TEST(what_cannot_be_read_is_blamed)
{
	char *where = os_join(folder, "unreadable"), *loop = os_join(where, "loop");
	char *pipe = os_join(where, "pipe");
	struct object_place *place;

	OK(os_make_dirs(why, where, 0700));
	files_put_text(where, "good", "text");
	assert_int_equal(symlink("loop", loop), 0);
	place = open_place(where);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	GIVES(JW_ERR_UNSUPPORTED, place->get(why, place, "pipe", MOST, file));
	mem_free(pipe);
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 5; i++) {
			*why = (struct jw_error){0};
			GIVES(i < 3 ? JW_ERR_FORMAT : JW_ERR_IO, place->get(why, place, "loop", MOST, file));
		}
		OK(place->get(why, place, "good", MOST, file));
		file_is("text");
	}
	OK(os_remove_tree(why, where));
	assert_int_equal(place->get(why, place, "loop", MOST, file), -1);
	/* A mount that has gone is not filled. */
	files_put_text(folder, "file", "text");
	GIVES(JW_ERR_NOT_FOUND, place->put(why, place, "v1/x", file));
	assert_false(os_exists(where));
	OK(os_remove(why, file));
	place->close(place);
	mem_free(where);
	mem_free(loop);
}

/* ---- */

static int set_up(void **state)
{
	if (make_folder(state) || os_env_set(why, "http_proxy", NULL) ||
		os_env_set(why, "HOME", folder) || os_env_set(why, "NETRC", NULL))
		return -1;
	file = os_join(folder, "file");
	server_begin();
	(void)snprintf(address, sizeof address, "http://%s/base//", server.site);
	return 0;
}

static int tear_down(void **state)
{
	server_end();
	mem_free(file);
	return remove_folder(state);
}

RUN_TESTS(set_up, tear_down)
