/* A web server on 127.0.0.1 that gives the answers of a test, one for each connection, and notes
 * what it was asked. */
#pragma once

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SERVER_MOST = 16, SERVER_TEXT = 8192 };

static struct {
	int socket;
	pthread_t thread;
	char site[32];                    /* 127.0.0.1:PORT */
	const char *answers[SERVER_MOST]; /* what follows “HTTP/1.1 ”; "": nothing is answered */
	size_t count, more;               /* the last answer counts from then on; bytes behind each */
	atomic_size_t asked;
	char requests[SERVER_MOST][SERVER_TEXT]; /* with their bodies */
} server;

static inline void server_send(int connection, const char *data, size_t size)
{
	while (size) {
		const ssize_t sent = send(connection, data, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		data += sent;
		size -= (size_t)sent;
	}
}

/* A request's head and its body, as long as it says. */
static inline void server_receive(int connection, char *request)
{
	size_t size = 0, wanted = SERVER_TEXT - 1;
	ssize_t got = 1;

	while (got > 0 && size < wanted) {
		const char *end, *length;

		got = recv(connection, request + size, wanted - size, 0);
		size += got > 0 ? (size_t)got : 0;
		request[size] = '\0';
		end = strstr(request, "\r\n\r\n");
		length = end ? strstr(request, "Content-Length: ") : NULL;
		if (end)
			wanted = (size_t)(end + 4 - request) + (length ? strtoul(length + 16, NULL, 10) : 0);
	}
}

static inline void server_answer(int connection)
{
	const size_t n = server.asked;
	char status[128], *padding = calloc(1, server.more + 1);
	const char *answer, *rest;

	server_receive(connection, server.requests[n < SERVER_MOST ? n : SERVER_MOST - 1]);
	answer = server.answers[n < server.count ? n : server.count - 1];
	rest = strstr(answer, "\r\n");
	server.asked++;
	if (*answer) {
		(void)snprintf(status, sizeof status, "HTTP/1.1 %.*s\r\nConnection: close",
					   (int)(rest - answer), answer);
		server_send(connection, status, strlen(status));
		server_send(connection, rest, strlen(rest));
		server_send(connection, padding, server.more);
	}
	free(padding);
}

static inline void *server_run(void *context)
{
	int connection;

	while ((connection = accept(server.socket, NULL, NULL)) >= 0) {
		server_answer(connection);
		(void)shutdown(connection, SHUT_WR);
		(void)close(connection);
	}
	return context;
}

/* For the next requests. */
static inline void server_says(const char *const *answers, size_t count)
{
	memset(server.requests, 0, sizeof server.requests);
	memcpy(server.answers, answers, count * sizeof *answers);
	server.count = count;
	server.more = 0;
	server.asked = 0;
}

#define SERVER_SAYS(...)                                                                           \
	server_says((const char *const[]){__VA_ARGS__},                                                \
				sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *))

static inline void server_begin(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;

	server.socket = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(server.socket >= 0);
	assert_int_equal(bind(server.socket, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(server.socket, SERVER_MOST), 0);
	assert_int_equal(getsockname(server.socket, (struct sockaddr *)&address, &size), 0);
	(void)snprintf(server.site, sizeof server.site, "127.0.0.1:%u", ntohs(address.sin_port));
	assert_int_equal(pthread_create(&server.thread, NULL, server_run, NULL), 0);
}

static inline void server_end(void)
{
	(void)shutdown(server.socket, SHUT_RDWR);
	(void)pthread_join(server.thread, NULL);
	(void)close(server.socket);
}
