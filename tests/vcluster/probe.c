// What the tests of vcluster run across its nodes. First argument:
//   ring            a token goes round all ranks; every rank prints where it is and who shares its node
//   bandwidth A B   MB/s of large messages between ranks A and B
//   send A B BYTES  rank A sends that many bytes to rank B
//   exit CODE       rank 1 (or the only one) exits with that code
//   hang            for ever, waiting for a message that nobody sends
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void ring(void) {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int node_size;
    MPI_Comm_size(node, &node_size);
    int token = 0;
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token += 1;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
    char host[256];
    gethostname(host, sizeof host);
    printf("rank %d of %d on %s shares its node with %d, token %d\n", rank, size, host, node_size, token);
    fflush(stdout);
    MPI_Comm_free(&node);
}

static void bandwidth(int a, int b) {
    enum { bytes = 4 << 20, rounds = 6 };
    char *buffer = malloc(bytes);
    memset(buffer, 1, bytes);
    double best = 1e9;
    for (int round = 0; round < rounds && (rank == a || rank == b); ++round) {
        double start = MPI_Wtime();
        for (int turn = 0; turn < 2; ++turn) {
            if ((rank == a) == (turn == 0)) MPI_Send(buffer, bytes, MPI_BYTE, rank == a ? b : a, 0, MPI_COMM_WORLD);
            else MPI_Recv(buffer, bytes, MPI_BYTE, rank == a ? b : a, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        double seconds = MPI_Wtime() - start;
        if (seconds < best) best = seconds;
    }
    if (rank == a) printf("%.1f\n", 2 * bytes / best / 1e6);
    free(buffer);
}

static void send_bytes(int a, int b, long bytes) {
    char *buffer = calloc(bytes, 1);
    if (rank == a) MPI_Send(buffer, (int)bytes, MPI_BYTE, b, 0, MPI_COMM_WORLD);
    if (rank == b) MPI_Recv(buffer, (int)bytes, MPI_BYTE, a, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == b) printf("%ld bytes received\n", bytes);
    fflush(stdout);
    free(buffer);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *mode = argc > 1 ? argv[1] : "";
    int code = 0;
    if (strcmp(mode, "ring") == 0) ring();
    else if (strcmp(mode, "bandwidth") == 0 && argc == 4) bandwidth(atoi(argv[2]), atoi(argv[3]));
    else if (strcmp(mode, "send") == 0 && argc == 5) send_bytes(atoi(argv[2]), atoi(argv[3]), atol(argv[4]));
    else if (strcmp(mode, "exit") == 0 && argc == 3) code = rank == 1 || size == 1 ? atoi(argv[2]) : 0;
    else if (strcmp(mode, "hang") == 0) {
        if (rank == 0) { printf("hanging\n"); fflush(stdout); }
        MPI_Recv(&code, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else code = 2;
    MPI_Finalize();
    return code;
}
