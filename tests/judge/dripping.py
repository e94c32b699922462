"""A worker that begins an answer and goes on a byte at a time."""

import os
import struct
import time


def main(folder, ask, answer, *limits):
    os.write(int(answer), struct.pack("<QQ", 1 << 20, 0))
    while True:
        os.write(int(answer), b"{")
        time.sleep(0.1)
