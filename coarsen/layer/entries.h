/* Records of the log, and entries by their keys. */

static void put32(struct Bytes *bytes, uint32_t number)
{
    put(bytes, &number, sizeof number);
}

static void put64(struct Bytes *bytes, uint64_t number)
{
    put(bytes, &number, sizeof number);
}

static void put_text(struct Bytes *bytes, const char *text)
{
    put(bytes, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static uint64_t hash_of(const char *data, size_t size)
{
    uint64_t hash = size, word;
    for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
        memcpy(&word, data, sizeof word);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    for (; size; data++, size--)
        hash = (hash ^ (uint8_t)*data) * 0x100000001B3u;
    return hash ^ hash >> 32;
}

/* Entries by their keys: each is numbered when it comes first, and stays. */
struct Entry {
    uint64_t hash;
    size_t size;
    uint32_t number;
    uint8_t state, tries;
    char key[];
};

static struct {
    struct Entry **places;
    size_t count, room; /* a power of two */
} entries;

static struct Entry **place_of_entry(uint64_t hash, const void *key, size_t size)
{
    for (size_t i = hash & (entries.room - 1);; i = (i + 1) & (entries.room - 1)) {
        struct Entry *entry = entries.places[i];
        if (!entry || (entry->hash == hash && entry->size == size && !memcmp(entry->key, key, size)))
            return &entries.places[i];
    }
}

/* The entry of a key, NULL where there is no memory for one; `is_new` tells whether it was made now. */
static struct Entry *entry_of(const void *key, size_t size, int *is_new)
{
    if (2 * entries.count >= entries.room) {
        struct Entry **old = entries.places, **places;
        size_t room = entries.room, twice = room ? 2 * room : 1024;
        if (!(places = allocated(calloc(twice, sizeof *places))))
            return NULL;
        entries.places = places;
        entries.room = twice;
        for (size_t i = 0; i < room; i++)
            if (old[i])
                *place_of_entry(old[i]->hash, old[i]->key, old[i]->size) = old[i];
        free(old);
    }
    uint64_t hash = hash_of(key, size);
    struct Entry **place = place_of_entry(hash, key, size);
    *is_new = !*place;
    if (*is_new) {
        if (!(*place = allocated(calloc(1, sizeof **place + size))))
            return NULL;
        (*place)->hash = hash;
        (*place)->size = size;
        memcpy((*place)->key, key, size);
        entries.count++;
    }
    return *place;
}
